-- ibwitness in VHDL, for GHDL: what the library gives (attach/c/ibwitness.h says more of each call), over VHPIDIRECT. GHDL loads libibwitness.so
-- when it elaborates (ghdl -e, ghdl -r): have its folder in LD_LIBRARY_PATH. Functions return a negative number where something was wrong with the call, and ibw_tell tells what and what to do.
library ieee;
use ieee.std_logic_1164.all;

package ibwitness_pkg is

  -- Direction of a frame, seen from the device that the tap is near.
  constant IBW_UNKNOWN : natural := 0;
  constant IBW_IN : natural := 1;
  constant IBW_OUT : natural := 2;

  -- What a link carries.
  constant IBW_DATA_PACKET : natural := 0;
  constant IBW_LINK_PACKET : natural := 1;

  -- Operations of work requests and of completions, and flags, numbered as those of verbs are.
  constant IBW_RDMA_WRITE : natural := 0;
  constant IBW_RDMA_WRITE_WITH_IMM : natural := 1;
  constant IBW_SEND : natural := 2;
  constant IBW_SEND_WITH_IMM : natural := 3;
  constant IBW_RDMA_READ : natural := 4;
  constant IBW_ATOMIC_CMP_AND_SWP : natural := 5;
  constant IBW_ATOMIC_FETCH_AND_ADD : natural := 6;
  constant IBW_LOCAL_INV : natural := 7;
  constant IBW_SEND_WITH_INV : natural := 9;
  constant IBW_ATOMIC_WRITE : natural := 15;
  constant IBW_FENCE : natural := 1;
  constant IBW_SIGNALED : natural := 2;
  constant IBW_SOLICITED : natural := 4;
  constant IBW_INLINE : natural := 8;
  constant IBW_WC_SEND : natural := 0;
  constant IBW_WC_RDMA_WRITE : natural := 1;
  constant IBW_WC_RDMA_READ : natural := 2;
  constant IBW_WC_COMP_SWAP : natural := 3;
  constant IBW_WC_FETCH_ADD : natural := 4;
  constant IBW_WC_BIND_MW : natural := 5;
  constant IBW_WC_LOCAL_INV : natural := 6;
  constant IBW_WC_FLUSH : natural := 8;
  constant IBW_WC_ATOMIC_WRITE : natural := 9;
  constant IBW_WC_RECV : natural := 128;
  constant IBW_WC_RECV_RDMA_WITH_IMM : natural := 129;

  -- What the functions below have of a run as text.
  constant IBW_MESSAGE : natural := 0;
  constant IBW_TEXT : natural := 1;
  constant IBW_RULE : natural := 2;
  constant IBW_VERDICT : natural := 3;
  constant IBW_OUTSTANDING : natural := 4;
  constant IBW_DOUBT : natural := 5; -- another at each call, and in the end none: signs that a run that has ended was not attached as was meant

  constant IBW_ZERO : std_logic_vector(31 downto 0) := (others => '0');

  -- Opens a run, or finds the one of that name: the first to open it gives it its configuration (JSON, or the name of a file with it). One that cannot be opened ends the
  -- simulation. The environment variable IBWITNESS_CONFIG names a file that takes the place of the configuration.
  impure function ibw_open(name : string; config : string) return positive;
  impure function ibw_tap(run : integer; name : string) return natural;
  impure function ibw_hca(run : integer; name : string) return natural;

  -- A beat of any width; flags: 1 the last one of the frame, 2 the frame is given up, 4 its first byte is the leftmost.
  impure function ibw_beat(run, tap, way : integer; tdata, tkeep : std_logic_vector; flags : natural) return integer;
  -- The same of what port 0 or 1 of an InfiniBand link sends, at a tap whose link is "link": a packet between its delimiters, flag 2 where it ends with EBP; and the physical state of a
  -- port, from now on.
  impure function ibw_symbols(run, tap, port_number, symbols : integer; data, keep : std_logic_vector; flags : natural) return integer;
  impure function ibw_port_state(run, tap, port_number, state : integer) return integer;
  -- Whether ibw_advance is to be called: a verbs event waits for a later time, or a period has passed since it was.
  impure function ibw_due(run : integer; period : time) return boolean;
  impure function ibw_advance(run : integer) return integer;
  impure function ibw_lost(run, tap, n : integer) return integer;
  impure function ibw_reset(run, tap : integer) return integer;

  -- Tells what a call has found, and what was wrong with the call, of which result is what it returned: an error by "report ... severity error", or, with stop, failure, which
  -- ends the simulation. errors is how many were told, and id the rule of the first.
  procedure ibw_tell(run, result : integer; from : string; stop : boolean; errors : out natural; id : out string);
  procedure ibw_tell(run, result : integer; from : string; stop : boolean := false);

  -- Verbs events of an HCA, now. They tell what is found by the call; a monitor tells at the next edge of its clock what is found by comparing them with the packets.
  procedure ibw_event(run, hca : integer; json : string);
  -- ibw_segment gives a segment of the work request that is posted next: those come first, in the order of the calls, and that of the post, where its length is not 0, is the last.
  procedure ibw_segment(run : integer; addr : std_logic_vector; length : natural; lkey : std_logic_vector);
  procedure ibw_post_send(run, hca, qpn : integer; wr_id : std_logic_vector; operation, flags : natural; addr : std_logic_vector; length : natural;
    lkey : std_logic_vector; remote_addr, rkey, imm, inv_rkey, compare, swap_add : std_logic_vector := IBW_ZERO; dest_qpn : natural := 0;
    qkey : std_logic_vector := IBW_ZERO; ah, xrc_srqn : natural := 0);
  procedure ibw_post_recv(run, hca, qpn : integer; wr_id, addr : std_logic_vector; length : natural; lkey : std_logic_vector; srq : natural := 0);
  procedure ibw_complete(run, hca, qpn : integer; wr_id : std_logic_vector; status, operation, byte_len : natural; has_imm : boolean := false;
    imm : std_logic_vector := IBW_ZERO; has_inv : boolean := false; inv_rkey : std_logic_vector := IBW_ZERO; src_qpn, cq : natural := 0;
    has_grh : boolean := false; slid, sl : natural := 0);

  -- Ends a run, and tells why it failed where it did. Call it before std.env.finish. A run that is not ended is ended when the program exits: what that finds goes to standard
  -- error, and where the run failed, the exit status is not 0.
  procedure ibw_finish(run : integer; from : string := "ibw_finish");

  -- Whether what is outstanding at the end is no failure.
  procedure ibw_lenient(run : integer);
  impure function ibw_errors(run : integer) return integer;
  impure function ibw_outstanding_count(run : integer) return integer;
  impure function ibw_words(run : integer; what : natural) return string;

  -- What is in the library. The functions above give it the time.
  impure function ibw_vhdl_open(name : string; config : string) return integer;
  attribute foreign of ibw_vhdl_open : function is "VHPIDIRECT libibwitness.so ibw_vhdl_open";
  impure function ibw_vhdl_tap(run : integer; name : string) return integer;
  attribute foreign of ibw_vhdl_tap : function is "VHPIDIRECT libibwitness.so ibw_vhdl_tap";
  impure function ibw_vhdl_hca(run : integer; name : string) return integer;
  attribute foreign of ibw_vhdl_hca : function is "VHPIDIRECT libibwitness.so ibw_vhdl_hca";
  impure function ibw_vhdl_beat(run, tap, way : integer; at, ns : time; tdata, tkeep : std_logic_vector; flags : integer) return integer;
  attribute foreign of ibw_vhdl_beat : function is "VHPIDIRECT libibwitness.so ibw_vhdl_beat";
  impure function ibw_vhdl_symbols(run, tap, port_number, symbols : integer; at, ns : time; data, keep : std_logic_vector; flags : integer) return integer;
  attribute foreign of ibw_vhdl_symbols : function is "VHPIDIRECT libibwitness.so ibw_vhdl_symbols";
  impure function ibw_vhdl_port_state(run, tap, port_number, state : integer; at, ns : time) return integer;
  attribute foreign of ibw_vhdl_port_state : function is "VHPIDIRECT libibwitness.so ibw_vhdl_port_state";
  impure function ibw_vhdl_unclear return integer;
  attribute foreign of ibw_vhdl_unclear : function is "VHPIDIRECT libibwitness.so ibw_vhdl_unclear";
  impure function ibw_vhdl_due(run : integer; at, ns, period : time) return integer;
  attribute foreign of ibw_vhdl_due : function is "VHPIDIRECT libibwitness.so ibw_vhdl_due";
  impure function ibw_vhdl_advance(run : integer; at, ns : time) return integer;
  attribute foreign of ibw_vhdl_advance : function is "VHPIDIRECT libibwitness.so ibw_vhdl_advance";
  impure function ibw_vhdl_lost(run, tap, n : integer) return integer;
  attribute foreign of ibw_vhdl_lost : function is "VHPIDIRECT libibwitness.so ibw_vhdl_lost";
  impure function ibw_vhdl_reset(run, tap : integer; at, ns : time) return integer;
  attribute foreign of ibw_vhdl_reset : function is "VHPIDIRECT libibwitness.so ibw_vhdl_reset";
  impure function ibw_vhdl_event(run, hca : integer; at, ns : time; json : string) return integer;
  attribute foreign of ibw_vhdl_event : function is "VHPIDIRECT libibwitness.so ibw_vhdl_event";
  impure function ibw_vhdl_segment(run : integer; addr : std_logic_vector; length : integer; lkey : std_logic_vector) return integer;
  attribute foreign of ibw_vhdl_segment : function is "VHPIDIRECT libibwitness.so ibw_vhdl_segment";
  impure function ibw_vhdl_post_send(run, hca : integer; at, ns : time; qpn : integer; wr_id : std_logic_vector; operation, flags : integer;
    addr : std_logic_vector; length : integer; lkey, remote_addr, rkey, imm, inv_rkey, compare, swap_add : std_logic_vector; dest_qpn : integer;
    qkey : std_logic_vector; ah, xrc_srqn : integer) return integer;
  attribute foreign of ibw_vhdl_post_send : function is "VHPIDIRECT libibwitness.so ibw_vhdl_post_send";
  impure function ibw_vhdl_post_recv(run, hca : integer; at, ns : time; qpn, srq : integer; wr_id, addr : std_logic_vector; length : integer;
    lkey : std_logic_vector) return integer;
  attribute foreign of ibw_vhdl_post_recv : function is "VHPIDIRECT libibwitness.so ibw_vhdl_post_recv";
  impure function ibw_vhdl_complete(run, hca : integer; at, ns : time; qpn : integer; wr_id : std_logic_vector; status, operation, byte_len : integer;
    has_imm : boolean; imm : std_logic_vector; has_inv : boolean; inv_rkey : std_logic_vector; src_qpn, cq : integer; has_grh : boolean;
    slid, sl : integer) return integer;
  attribute foreign of ibw_vhdl_complete : function is "VHPIDIRECT libibwitness.so ibw_vhdl_complete";
  impure function ibw_vhdl_next(run : integer) return integer;
  attribute foreign of ibw_vhdl_next : function is "VHPIDIRECT libibwitness.so ibw_vhdl_next";
  impure function ibw_vhdl_say(run, what : integer) return integer;
  attribute foreign of ibw_vhdl_say : function is "VHPIDIRECT libibwitness.so ibw_vhdl_say";
  impure function ibw_vhdl_letter(place : integer) return integer;
  attribute foreign of ibw_vhdl_letter : function is "VHPIDIRECT libibwitness.so ibw_vhdl_letter";
  impure function ibw_vhdl_errors(run : integer) return integer;
  attribute foreign of ibw_vhdl_errors : function is "VHPIDIRECT libibwitness.so ibw_vhdl_errors";
  impure function ibw_vhdl_outstanding(run : integer) return integer;
  attribute foreign of ibw_vhdl_outstanding : function is "VHPIDIRECT libibwitness.so ibw_vhdl_outstanding";
  procedure ibw_vhdl_lenient(run : integer);
  attribute foreign of ibw_vhdl_lenient : procedure is "VHPIDIRECT libibwitness.so ibw_vhdl_lenient";
  impure function ibw_vhdl_end(run : integer; at, ns : time) return integer;
  attribute foreign of ibw_vhdl_end : function is "VHPIDIRECT libibwitness.so ibw_vhdl_end";
  procedure ibw_vhdl_fail;
  attribute foreign of ibw_vhdl_fail : procedure is "VHPIDIRECT libibwitness.so ibw_vhdl_fail";

end package;

package body ibwitness_pkg is

  impure function ibw_words(run : integer; what : natural) return string is
    constant n : natural := ibw_vhdl_say(run, what);
    variable s : string(1 to n);
  begin
    for i in s'range loop
      s(i) := character'val(ibw_vhdl_letter(i));
    end loop;
    return s;
  end function;

  impure function ibw_open(name : string; config : string) return positive is
    constant run : integer := ibw_vhdl_open(name, config);
  begin
    if run = 0 then
      report ibw_words(0, IBW_MESSAGE) severity failure;
    end if;
    return run;
  end function;

  impure function ibw_tap(run : integer; name : string) return natural is
    constant n : integer := ibw_vhdl_tap(run, name);
  begin
    if n < 0 then
      report ibw_words(run, IBW_MESSAGE) severity failure;
    end if;
    return n;
  end function;

  impure function ibw_hca(run : integer; name : string) return natural is
    constant n : integer := ibw_vhdl_hca(run, name);
  begin
    if n < 0 then
      report ibw_words(run, IBW_MESSAGE) severity failure;
    end if;
    return n;
  end function;

  procedure ibw_warn_unclear is
  begin
    if ibw_vhdl_unclear /= 0 then
      report "ibwitness: a beat has bits that are neither 0 nor 1, which are taken for 0" severity warning;
    end if;
  end procedure;

  impure function ibw_beat(run, tap, way : integer; tdata, tkeep : std_logic_vector; flags : natural) return integer is
    constant n : integer := ibw_vhdl_beat(run, tap, way, now, 1 ns, tdata, tkeep, flags);
  begin
    ibw_warn_unclear;
    return n;
  end function;

  impure function ibw_symbols(run, tap, port_number, symbols : integer; data, keep : std_logic_vector; flags : natural) return integer is
    constant n : integer := ibw_vhdl_symbols(run, tap, port_number, symbols, now, 1 ns, data, keep, flags);
  begin
    ibw_warn_unclear;
    return n;
  end function;

  impure function ibw_port_state(run, tap, port_number, state : integer) return integer is
  begin
    return ibw_vhdl_port_state(run, tap, port_number, state, now, 1 ns);
  end function;

  impure function ibw_due(run : integer; period : time) return boolean is
  begin
    return ibw_vhdl_due(run, now, 1 ns, period) = 1;
  end function;

  impure function ibw_advance(run : integer) return integer is
  begin
    return ibw_vhdl_advance(run, now, 1 ns);
  end function;

  impure function ibw_lost(run, tap, n : integer) return integer is
  begin
    return ibw_vhdl_lost(run, tap, n);
  end function;

  impure function ibw_reset(run, tap : integer) return integer is
  begin
    return ibw_vhdl_reset(run, tap, now, 1 ns);
  end function;

  procedure ibw_tell(run, result : integer; from : string; stop : boolean; errors : out natural; id : out string) is
    variable tone : integer;
    variable n : natural := 0;

    procedure keep(rule : string) is
    begin
      for i in 1 to rule'length loop
        exit when i > id'length;
        id(id'low + i - 1) := rule(rule'low + i - 1);
      end loop;
    end procedure;
  begin
    id := (id'range => nul);
    if result < 0 then
      ibw_vhdl_fail;
      report from & ": " & ibw_words(run, IBW_MESSAGE) severity error;
    end if;
    loop
      tone := ibw_vhdl_next(run);
      exit when tone < 0;
      case tone is
        when 2 =>
          n := n + 1;
          if n = 1 then
            keep(ibw_words(run, IBW_RULE));
          end if;
          if stop then
            ibw_vhdl_lenient(run); -- what is not done by now is no fault
            report from & ": ibwitness: " & ibw_words(run, IBW_TEXT) severity failure;
          else
            report from & ": ibwitness: " & ibw_words(run, IBW_TEXT) severity error;
          end if;
        when 1 => report from & ": ibwitness: " & ibw_words(run, IBW_TEXT) severity warning;
        when others => report from & ": ibwitness: " & ibw_words(run, IBW_TEXT) severity note;
      end case;
    end loop;
    errors := n;
  end procedure;

  procedure ibw_tell(run, result : integer; from : string; stop : boolean := false) is
    variable errors : natural;
    variable id : string(1 to 32);
  begin
    ibw_tell(run, result, from, stop, errors, id);
  end procedure;

  procedure ibw_event(run, hca : integer; json : string) is
  begin
    ibw_tell(run, ibw_vhdl_event(run, hca, now, 1 ns, json), "ibw_event");
  end procedure;

  procedure ibw_segment(run : integer; addr : std_logic_vector; length : natural; lkey : std_logic_vector) is
  begin
    ibw_tell(run, ibw_vhdl_segment(run, addr, length, lkey), "ibw_segment");
  end procedure;

  procedure ibw_post_send(run, hca, qpn : integer; wr_id : std_logic_vector; operation, flags : natural; addr : std_logic_vector; length : natural;
    lkey : std_logic_vector; remote_addr, rkey, imm, inv_rkey, compare, swap_add : std_logic_vector := IBW_ZERO; dest_qpn : natural := 0;
    qkey : std_logic_vector := IBW_ZERO; ah, xrc_srqn : natural := 0) is
  begin
    ibw_tell(run, ibw_vhdl_post_send(run, hca, now, 1 ns, qpn, wr_id, operation, flags, addr, length, lkey, remote_addr, rkey, imm, inv_rkey,
      compare, swap_add, dest_qpn, qkey, ah, xrc_srqn), "ibw_post_send");
  end procedure;

  procedure ibw_post_recv(run, hca, qpn : integer; wr_id, addr : std_logic_vector; length : natural; lkey : std_logic_vector; srq : natural := 0) is
  begin
    ibw_tell(run, ibw_vhdl_post_recv(run, hca, now, 1 ns, qpn, srq, wr_id, addr, length, lkey), "ibw_post_recv");
  end procedure;

  procedure ibw_complete(run, hca, qpn : integer; wr_id : std_logic_vector; status, operation, byte_len : natural; has_imm : boolean := false;
    imm : std_logic_vector := IBW_ZERO; has_inv : boolean := false; inv_rkey : std_logic_vector := IBW_ZERO; src_qpn, cq : natural := 0;
    has_grh : boolean := false; slid, sl : natural := 0) is
  begin
    ibw_tell(run, ibw_vhdl_complete(run, hca, now, 1 ns, qpn, wr_id, status, operation, byte_len, has_imm, imm, has_inv, inv_rkey, src_qpn, cq, has_grh, slid, sl),
      "ibw_complete");
  end procedure;

  -- Says what is doubtful of a run that has ended.
  procedure ibw_tell_doubts(run : integer; from : string) is
    procedure say(doubt : string) is
    begin
      if doubt /= "" then
        report from & ": ibwitness: " & doubt severity warning;
        ibw_tell_doubts(run, from);
      end if;
    end procedure;
  begin
    say(ibw_words(run, IBW_DOUBT));
  end procedure;

  procedure ibw_finish(run : integer; from : string := "ibw_finish") is
    constant n : integer := ibw_vhdl_end(run, now, 1 ns);
  begin
    if n /= 0 then
      ibw_tell(run, n, from);
      ibw_tell_doubts(run, from);
      if ibw_words(run, IBW_VERDICT) /= "" then
        ibw_vhdl_fail;
        report from & ": " & ibw_words(run, IBW_VERDICT) severity error;
      end if;
    end if;
  end procedure;

  procedure ibw_lenient(run : integer) is
  begin
    ibw_vhdl_lenient(run);
  end procedure;

  impure function ibw_errors(run : integer) return integer is
  begin
    return ibw_vhdl_errors(run);
  end function;

  impure function ibw_outstanding_count(run : integer) return integer is
  begin
    return ibw_vhdl_outstanding(run);
  end function;

  -- The bodies of what is in the library are never run.

  impure function ibw_vhdl_open(name : string; config : string) return integer is
  begin
    report "ibw_vhdl_open is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_tap(run : integer; name : string) return integer is
  begin
    report "ibw_vhdl_tap is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_hca(run : integer; name : string) return integer is
  begin
    report "ibw_vhdl_hca is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_beat(run, tap, way : integer; at, ns : time; tdata, tkeep : std_logic_vector; flags : integer) return integer is
  begin
    report "ibw_vhdl_beat is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_symbols(run, tap, port_number, symbols : integer; at, ns : time; data, keep : std_logic_vector; flags : integer) return integer is
  begin
    report "ibw_vhdl_symbols is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_port_state(run, tap, port_number, state : integer; at, ns : time) return integer is
  begin
    report "ibw_vhdl_port_state is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_segment(run : integer; addr : std_logic_vector; length : integer; lkey : std_logic_vector) return integer is
  begin
    report "ibw_vhdl_segment is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_unclear return integer is
  begin
    report "ibw_vhdl_unclear is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_due(run : integer; at, ns, period : time) return integer is
  begin
    report "ibw_vhdl_due is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_advance(run : integer; at, ns : time) return integer is
  begin
    report "ibw_vhdl_advance is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_lost(run, tap, n : integer) return integer is
  begin
    report "ibw_vhdl_lost is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_reset(run, tap : integer; at, ns : time) return integer is
  begin
    report "ibw_vhdl_reset is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_event(run, hca : integer; at, ns : time; json : string) return integer is
  begin
    report "ibw_vhdl_event is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_post_send(run, hca : integer; at, ns : time; qpn : integer; wr_id : std_logic_vector; operation, flags : integer;
    addr : std_logic_vector; length : integer; lkey, remote_addr, rkey, imm, inv_rkey, compare, swap_add : std_logic_vector; dest_qpn : integer;
    qkey : std_logic_vector; ah, xrc_srqn : integer) return integer is
  begin
    report "ibw_vhdl_post_send is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_post_recv(run, hca : integer; at, ns : time; qpn, srq : integer; wr_id, addr : std_logic_vector; length : integer;
    lkey : std_logic_vector) return integer is
  begin
    report "ibw_vhdl_post_recv is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_complete(run, hca : integer; at, ns : time; qpn : integer; wr_id : std_logic_vector; status, operation, byte_len : integer;
    has_imm : boolean; imm : std_logic_vector; has_inv : boolean; inv_rkey : std_logic_vector; src_qpn, cq : integer; has_grh : boolean;
    slid, sl : integer) return integer is
  begin
    report "ibw_vhdl_complete is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_next(run : integer) return integer is
  begin
    report "ibw_vhdl_next is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_say(run, what : integer) return integer is
  begin
    report "ibw_vhdl_say is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_letter(place : integer) return integer is
  begin
    report "ibw_vhdl_letter is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_errors(run : integer) return integer is
  begin
    report "ibw_vhdl_errors is in libibwitness.so" severity failure;
    return 0;
  end function;

  impure function ibw_vhdl_outstanding(run : integer) return integer is
  begin
    report "ibw_vhdl_outstanding is in libibwitness.so" severity failure;
    return 0;
  end function;

  procedure ibw_vhdl_lenient(run : integer) is
  begin
    report "ibw_vhdl_lenient is in libibwitness.so" severity failure;
  end procedure;

  impure function ibw_vhdl_end(run : integer; at, ns : time) return integer is
  begin
    report "ibw_vhdl_end is in libibwitness.so" severity failure;
    return 0;
  end function;

  procedure ibw_vhdl_fail is
  begin
    report "ibw_vhdl_fail is in libibwitness.so" severity failure;
  end procedure;

end package body;
