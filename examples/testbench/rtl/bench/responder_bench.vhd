-- Requests for roce_responder, as a peer at 10.0.0.2 sends them: SEND, WRITE and READ of several lengths over the wrap of the PSN, a gap,
-- duplicates, and a WRITE without access. Writes what a tap at the responder would show (responder.pcap, stamps in nanoseconds), and
-- the verbs events of the responder (responder.jsonl), into the current directory. Monitors of ibwitness are at its ports, and told the events.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use std.textio.all;
use work.roce_bytes.all;
use work.ibwitness_pkg.all;

entity responder_bench is
  generic (
    W   : positive := 64;
    BUG : natural := 0);
end entity;

architecture sim of responder_bench is
  constant LANES     : positive := W / 8;
  constant START_PSN : natural := 16#fffff8#;
  constant PMTU      : natural := 256;
  constant EPOCH_S   : natural := 1700000000;

  signal clk    : std_logic := '0';
  signal resetn : std_logic := '0';
  signal running : boolean := true;
  signal half    : time := 2 ns;  -- of a cycle
  signal answers : natural := 0;  -- frames of the responder so far
  signal rx_tvalid, rx_tlast : std_logic := '0';
  signal rx_tready, tx_tvalid, tx_tlast, tx_tuser, refused : std_logic;
  signal rx_tdata, tx_tdata : std_logic_vector(W - 1 downto 0) := (others => '0');
  signal rx_tkeep, tx_tkeep : std_logic_vector(LANES - 1 downto 0) := (others => '0');
begin
  clk <= not clk after half when running else '0';

  dut : entity work.roce_responder
    generic map (W => W, BUG => BUG, RQ_PSN => START_PSN)
    port map (
      clk => clk, resetn => resetn,
      rx_tvalid => rx_tvalid, rx_tready => rx_tready, rx_tdata => rx_tdata, rx_tkeep => rx_tkeep, rx_tlast => rx_tlast, rx_tuser => '0',
      tx_tvalid => tx_tvalid, tx_tready => '1', tx_tdata => tx_tdata, tx_tkeep => tx_tkeep, tx_tlast => tx_tlast, tx_tuser => tx_tuser, refused => refused);

  ibw_rx : entity work.ibwitness_axis_monitor
    generic map (W => W, TAP => "a.rx", DIRECTION => IBW_IN, CONFIG => "ibw.json", OUTSTANDING => false)  -- its receive requests are never complete
    port map (aclk => clk, aresetn => resetn, tvalid => rx_tvalid, tready => rx_tready, tdata => rx_tdata, tkeep => rx_tkeep, tlast => rx_tlast);
  ibw_tx : entity work.ibwitness_axis_monitor
    generic map (W => W, TAP => "a.tx", DIRECTION => IBW_OUT, CONFIG => "ibw.json", OUTSTANDING => false)
    port map (aclk => clk, aresetn => resetn, tvalid => tx_tvalid, tdata => tx_tdata, tkeep => tx_tkeep, tlast => tx_tlast);

  -- The tap: frames of both directions, each when it is whole.
  process (clk)
    type char_file is file of character;
    file pcap : char_file;
    variable opened : boolean := false;
    variable rx, tx : bytes(0 to 8191);
    variable n_rx, n_tx : natural := 0;

    procedure u32(value : unsigned(31 downto 0)) is
    begin
      for k in 0 to 3 loop
        write(pcap, character'val(to_integer(value(8 * k + 7 downto 8 * k))));
      end loop;
    end procedure;

    procedure record_frame(f : bytes; n : natural) is
    begin
      u32(to_unsigned(EPOCH_S, 32));
      u32(to_unsigned(now / 1 ns, 32));
      u32(to_unsigned(n, 32));
      u32(to_unsigned(n, 32));
      for k in 0 to n - 1 loop
        write(pcap, character'val(to_integer(f(k))));
      end loop;
    end procedure;
  begin
    if not opened then
      opened := true;
      file_open(pcap, "responder.pcap", write_mode);
      u32(x"a1b23c4d");  -- nanoseconds
      u32(x"00040002");
      u32(x"00000000");
      u32(x"00000000");
      u32(x"0000ffff");
      u32(x"00000001");  -- Ethernet
    end if;
    if rising_edge(clk) then
      if rx_tvalid = '1' and rx_tready = '1' then
        for k in 0 to LANES - 1 loop
          if rx_tkeep(k) = '1' then
            rx(n_rx) := unsigned(rx_tdata(8 * k + 7 downto 8 * k));
            n_rx := n_rx + 1;
          end if;
        end loop;
        if rx_tlast = '1' then
          record_frame(rx, n_rx);
          n_rx := 0;
        end if;
      end if;
      if tx_tvalid = '1' then
        for k in 0 to LANES - 1 loop
          if tx_tkeep(k) = '1' then
            tx(n_tx) := unsigned(tx_tdata(8 * k + 7 downto 8 * k));
            n_tx := n_tx + 1;
          end if;
        end loop;
        if tx_tlast = '1' then
          record_frame(tx, n_tx);
          answers <= answers + 1;
          n_tx := 0;
        end if;
      end if;
    end if;
  end process;

  process
    file log : text open write_mode is "responder.jsonl";
    variable run, hca : integer;
    variable psn : unsigned(23 downto 0) := to_unsigned(START_PSN, 24);
    variable ident : natural := 0;
    variable heard : natural := 0;      -- answers before the newest request
    variable silent : boolean := false; -- the responder has not answered: its peer gives up

    -- A line of the log; rest is what follows the time.
    procedure tell(rest : string) is
      variable l : line;
      variable t : string(1 to 9);
      variable v : natural := now / 1 ns;
    begin
      for k in 9 downto 1 loop
        t(k) := character'val(48 + v mod 10);
        v := v / 10;
      end loop;
      write(l, string'("{""t"":") & integer'image(EPOCH_S + (now / 1 ns) / 1000000000) & t & "," & rest & "}");
      writeline(log, l);
      ibw_event(run, hca, "{" & rest & "}");
    end procedure;

    -- Sends one request packet. Payload is of no account: its bytes count up.
    procedure request(op, number_of : natural; ackreq : std_logic; va, dmalen, len : natural; key : word := x"00001234"; qpn : natural := 16#100#) is
      variable f : bytes(0 to 8191);
      variable size, at, pad : natural;
      variable sum, crc : word := (others => '0');
      procedure put(where : natural; value : unsigned) is
        variable v : unsigned(value'length - 1 downto 0) := value;
      begin
        for k in 0 to value'length / 8 - 1 loop
          f(where + k) := v(value'length - 1 - 8 * k downto value'length - 8 - 8 * k);
        end loop;
      end procedure;
    begin
      if silent then
        return;
      end if;
      at := HEADERS;
      if op = 6 or op = 10 or op = 12 then
        put(at, to_unsigned(0, 32) & to_unsigned(va, 32) & key & to_unsigned(dmalen, 32));
        at := at + 16;
      end if;
      pad := (4 - len mod 4) mod 4;
      size := at + len + pad + 4;
      for k in 0 to len + pad - 1 loop
        f(at + k) := to_unsigned((k + number_of) mod 256, 8);
        if k >= len then
          f(at + k) := x"00";
        end if;
      end loop;
      put(0, x"02000a000001" & x"02000a000002" & x"0800" & x"4500" & to_unsigned(size - ETHERNET, 16) & to_unsigned(ident, 16) & x"40004011" & x"0000" &
          x"0a000002" & x"0a000001" & x"c000" & to_unsigned(4791, 16) & to_unsigned(size - 34, 16) & x"0000");
      put(42, to_unsigned(op, 8) & "01" & to_unsigned(pad, 2) & x"0" & x"ffff" & x"00" & to_unsigned(qpn, 24) & ackreq & "0000000" &
          to_unsigned(number_of, 24));
      ident := ident + 1;
      for k in 0 to 9 loop
        sum := sum + number(f, 14 + 2 * k, 2);
      end loop;
      sum := resize(sum(15 downto 0), 32) + sum(31 downto 16);
      sum := resize(sum(15 downto 0), 32) + sum(31 downto 16);
      put(24, not sum(15 downto 0));
      crc := icrc(f, size - 4);
      for k in 0 to 3 loop
        f(size - 4 + k) := crc(8 * k + 7 downto 8 * k);
      end loop;
      at := 0;
      while at < size loop
        for k in 0 to LANES - 1 loop
          rx_tkeep(k) <= '0';
          if at + k < size then
            rx_tkeep(k) <= '1';
            rx_tdata(8 * k + 7 downto 8 * k) <= std_logic_vector(f(at + k));
          end if;
        end loop;
        at := at + LANES;
        rx_tlast <= '0';
        if at >= size then
          rx_tlast <= '1';
        end if;
        rx_tvalid <= '1';
        loop
          wait until rising_edge(clk);
          exit when rx_tready = '1';
        end loop;
      end loop;
      rx_tvalid <= '0';
    end procedure;

    procedure pause is
    begin
      wait for 20 us;
      silent := silent or answers = heard;
      heard := answers;
      wait until rising_edge(clk);
    end procedure;

    -- A message at the next PSN: SEND (base 0) or WRITE (base 6) in as many packets as it takes.
    procedure message(base, va, length : natural) is
      variable n, op, part : natural;
      variable ackreq : std_logic;
    begin
      n := (length + PMTU - 1) / PMTU;
      if n = 0 then
        n := 1;
      end if;
      for k in 0 to n - 1 loop
        part := length - k * PMTU;
        if part > PMTU then
          part := PMTU;
        end if;
        op := base + 1;
        if n = 1 then
          op := base + 4;
        elsif k = 0 then
          op := base;
        elsif k = n - 1 then
          op := base + 2;
        end if;
        ackreq := '0';
        if k = n - 1 then
          ackreq := '1';
        end if;
        request(op, to_integer(psn), ackreq, va, length, part);
        psn := psn + 1;
      end loop;
      pause;
    end procedure;

    -- Tells what the memory of the responder holds in a range.
    procedure holds(va, length : natural) is
      variable crc : word := x"ffffffff";
      variable l : line;
    begin
      for k in va to va + length - 1 loop
        crc := crc32_byte(crc, pattern(k));
      end loop;
      crc := not crc;
      l := new string'(integer'image(1000 + to_integer(crc mod 1000)));  -- in two parts: 32 bits do not fit into an integer
      tell("""ev"":""memory"",""wrote"":1,""addr"":" & integer'image(va) & ",""length"":" & integer'image(length) & ",""crc32"":" &
           integer'image(to_integer(crc / 1000)) & l(2 to 4));
      deallocate(l);
    end procedure;

    procedure read_request(va, length : natural) is
    begin
      request(12, to_integer(psn), '1', va, length, 0);
      psn := psn + (length + PMTU - 1) / PMTU;
      pause;
    end procedure;

    type lengths_t is array (natural range <>) of natural;
    constant LENGTHS : lengths_t := (1, 3, 255, 256, 257, 512, 773);
    variable l : line;
  begin
    run := ibw_open("run", "ibw.json");
    hca := ibw_hca(run, "a");
    write(l, string'("{""ev"":""device"",""gid"":""10.0.0.1"",""clock"":""simulation""}"));
    writeline(log, l);
    wait for 40 ns;
    resetn <= '1';
    tell("""ev"":""reg_mr"",""addr"":0,""length"":65536,""lkey"":1,""rkey"":4660,""access"":7");
    tell("""ev"":""create_qp"",""qpn"":256,""type"":""rc""");
    tell("""ev"":""modify_qp"",""qpn"":256,""to"":""INIT"",""pkey"":65535,""port_num"":1,""qp_access_flags"":7");
    tell("""ev"":""modify_qp"",""qpn"":256,""to"":""RTR"",""path_mtu"":256,""dest_qp_num"":512,""rq_psn"":" & integer'image(START_PSN) &
         ",""max_dest_rd_atomic"":1,""min_rnr_timer"":1,""dgid"":""10.0.0.2""");
    tell("""ev"":""modify_qp"",""qpn"":256,""to"":""RTS"",""sq_psn"":0,""timeout"":3,""retry_cnt"":7,""rnr_retry"":7,""max_rd_atomic"":1");
    for k in 1 to 16 loop
      tell("""ev"":""post_recv"",""qpn"":256,""wr_id"":" & integer'image(k) & ",""laddr"":16384,""length"":1024,""lkey"":1");
    end loop;
    for k in LENGTHS'range loop
      holds(1100 * (k + 1), LENGTHS(k));
    end loop;
    holds(9000, 700);
    wait for 1 us;
    wait until rising_edge(clk);
    for k in LENGTHS'range loop
      message(0, 0, LENGTHS(k));
      message(6, 16#8000#, LENGTHS(k));
      read_request(1100 * (k + 1), LENGTHS(k));
    end loop;
    -- A gap: the second of two WRITEs comes first.
    request(10, to_integer(psn + 1), '1', 16#8000#, 16, 16);
    pause;
    message(6, 16#8000#, 16);
    message(6, 16#8000#, 16);
    -- Duplicates of the last WRITE, and of a READ and its tail.
    request(10, to_integer(psn - 1), '1', 16#8000#, 16, 16);
    pause;
    read_request(9000, 700);
    request(12, to_integer(psn - 3), '1', 9000, 700, 0);
    pause;
    request(12, to_integer(psn - 2), '1', 9256, 444, 0);
    pause;
    message(6, 16#8000#, 20);
    -- No access: the queue pair is in error after it.
    request(10, to_integer(psn), '1', 16#8000#, 8, 8, x"00009999");
    wait until refused = '1' for 20 us;
    if refused = '1' then
      tell("""ev"":""async"",""what"":""qp_access"",""qpn"":256");
    end if;
    pause;
    -- Nothing goes on any more, while a slow clock lets time pass: no event gives the transport timer of the peer, so that silence is told after the time
    -- that ibw.json gives. The queue pair is still there, which tells it from an end of the simulation. Then a packet that is not for this device.
    half <= 500 ns;
    wait for 220 us;
    if refused = '1' then
      tell("""ev"":""query_qp"",""qpn"":256,""state"":6");
    else
      tell("""ev"":""query_qp"",""qpn"":256,""state"":3");
    end if;
    wait for 30 us;
    half <= 2 ns;
    wait until rising_edge(clk);
    silent := false;
    request(4, 0, '1', 0, 0, 4, x"00000000", 16#101#);
    wait for 1 us;
    ibw_finish(run);
    running <= false;
    wait;
  end process;
end architecture;
