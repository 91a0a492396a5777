-- A RoCEv2 responder in VHDL, for simulators that take no SystemVerilog: one queue pair of a reliable connection over IPv4, a memory of 64 KiB
-- that its peer may write and read, and receive requests without end, which all put their data at RECV_ADDR. It takes whole frames and
-- answers each before it takes the next. The generic BUG plants those bugs of roce_ca that a responder can have, under the same numbers.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.roce_bytes.all;

entity roce_responder is
  generic (
    W         : positive := 64;              -- data width of both streams, a multiple of 8
    BUG       : natural := 0;
    LOCAL_IP  : std_logic_vector(31 downto 0) := x"0a000001";
    PEER_IP   : std_logic_vector(31 downto 0) := x"0a000002";
    QPN       : natural := 16#100#;
    DEST_QPN  : natural := 16#200#;
    RQ_PSN    : natural := 0;
    PMTU      : positive := 256;
    RKEY      : std_logic_vector(31 downto 0) := x"00001234";
    RECV_ADDR : natural := 16#4000#);
  port (
    clk, resetn : in  std_logic;
    rx_tvalid   : in  std_logic;
    rx_tready   : out std_logic;
    rx_tdata    : in  std_logic_vector(W - 1 downto 0);
    rx_tkeep    : in  std_logic_vector(W / 8 - 1 downto 0);
    rx_tlast    : in  std_logic;
    rx_tuser    : in  std_logic;             -- with tlast: the frame is damaged
    tx_tvalid   : out std_logic;
    tx_tready   : in  std_logic;
    tx_tdata    : out std_logic_vector(W - 1 downto 0);
    tx_tkeep    : out std_logic_vector(W / 8 - 1 downto 0);
    tx_tlast    : out std_logic;
    tx_tuser    : out std_logic;
    refused     : out std_logic);            -- a request had no access, and the queue pair is in error
end entity;

architecture rtl of roce_responder is
  constant ACKNOWLEDGE : natural := 16#11#;
  constant LANES       : positive := W / 8;

  type state_t is (RECEIVING, HANDLING, READING, SENDING);
begin
  tx_tuser <= '0';

  process (clk)
    variable state   : state_t;
    variable rx, tx  : bytes(0 to 8191);
    variable memory  : bytes(0 to 65535);
    variable filled  : boolean := false;
    variable n, size : natural;                -- bytes in rx, in tx
    variable at      : natural;                -- of tx that went out
    variable ready, valid : std_logic;
    -- what the queue pair knows
    variable epsn, msn, psn, diff : unsigned(23 downto 0);
    variable naked, failed : boolean;
    variable offset  : natural;                -- of the message that has begun
    variable target  : natural;                -- where its payload goes
    variable ident   : unsigned(15 downto 0);
    variable requests, acks : natural;
    -- the packet
    variable op, pad, header, len, dmalen, count : natural;
    variable va      : unsigned(63 downto 0);
    variable good, ends, begins : boolean;
    -- the READ that is being answered
    variable i, read_at, read_len : natural;

    procedure put(where : natural; value : unsigned) is
      constant bits : natural := value'length;
      variable v : unsigned(bits - 1 downto 0) := value;
    begin
      for k in 0 to bits / 8 - 1 loop
        tx(where + k) := v(bits - 1 - 8 * k downto bits - 8 - 8 * k);
      end loop;
    end procedure;

    -- Makes the frame in tx: opcode, PSN, AETH (if there is one), payload of length bytes from memory at from on.
    procedure make(opcode : natural; number_of : unsigned(23 downto 0); aeth : boolean; syndrome : natural; from, length : natural) is
      variable p, body_at, lane : natural;
      variable sum : unsigned(31 downto 0);
      variable crc : word;
    begin
      p := (4 - length mod 4) mod 4;
      if BUG = 2 then
        p := 0;
      end if;
      body_at := HEADERS;
      if aeth then
        body_at := HEADERS + 4;
      end if;
      size := body_at + length + p + 4;
      put(0, x"0200" & unsigned(PEER_IP) & x"0200" & unsigned(LOCAL_IP) & x"0800");
      put(14, x"4500" & to_unsigned(size - ETHERNET, 16) & ident & x"4000" & x"4011" & x"0000" & unsigned(LOCAL_IP) & unsigned(PEER_IP));
      ident := ident + 1;
      sum := (others => '0');
      for k in 0 to 9 loop
        sum := sum + number(tx, 14 + 2 * k, 2);
      end loop;
      sum := resize(sum(15 downto 0), 32) + sum(31 downto 16);
      sum := resize(sum(15 downto 0), 32) + sum(31 downto 16);
      put(24, not sum(15 downto 0));
      put(34, x"c000" & to_unsigned(4791, 16) & to_unsigned(size - 34, 16) & x"0000");
      put(42, to_unsigned(opcode, 8) & "01" & to_unsigned(p, 2) & x"0" & x"ffff" & x"00" & to_unsigned(DEST_QPN, 24) & x"00" & number_of);
      if aeth then
        put(HEADERS, to_unsigned(syndrome, 8) & msn);
      end if;
      for k in 0 to length - 1 loop
        lane := from + k;
        if BUG = 10 then
          lane := lane + 3 - 2 * (lane mod 4);  -- the lanes of a word the other way round
        end if;
        tx(body_at + k) := memory(lane mod 65536);
      end loop;
      for k in 0 to p - 1 loop
        tx(body_at + length + k) := x"00";
      end loop;
      crc := icrc(tx, size - 4);
      if BUG = 9 and length > 0 and length < 4 then
        crc := crc xor x"00010000";
      end if;
      for k in 0 to 3 loop
        tx(size - 4 + k) := crc(8 * k + 7 downto 8 * k);
      end loop;
      at := 0;
      state := SENDING;
    end procedure;

    procedure answer(number_of : unsigned(23 downto 0); syndrome : natural) is
      variable p : unsigned(23 downto 0) := number_of;
    begin
      if syndrome = 16#1f# then
        if BUG = 7 and acks mod 4 = 3 then
          p := p + 1;
        end if;
        acks := acks + 1;
      end if;
      i := count;  -- no READ goes on after it
      make(ACKNOWLEDGE, p, true, syndrome, 0, 0);
    end procedure;

    function shown(constant f : bytes; constant bytes_in : natural) return boolean is
    begin
      return bytes_in >= HEADERS + 4 and number(f, 12, 2) = x"0800" and f(14) = x"45" and f(23) = 17
        and number(f, 30, 4) = unsigned(LOCAL_IP) and number(f, 36, 2) = 4791
        and to_integer(number(f, 16, 2)) >= HEADERS + 4 - ETHERNET and to_integer(number(f, 16, 2)) + ETHERNET <= bytes_in
        and f(43)(3 downto 0) = 0 and number(f, 47, 3) = QPN;
    end function;

    -- One request, in the order of 9.7.4: PSN, then opcode, then access.
    procedure handle is
      variable access_ok : boolean;
    begin
      n      := ETHERNET + to_integer(number(rx, 16, 2));
      op     := to_integer(rx(42));
      pad    := to_integer(rx(43)(5 downto 4));
      psn    := number(rx, 51, 3);
      header := HEADERS;
      if op = 6 or op = 10 or op = 11 or op = 12 then
        header := header + 16;
        va     := number(rx, HEADERS, 8);
        dmalen := to_integer(number(rx, HEADERS + 12, 4)(30 downto 0));
      else
        dmalen := 0;
      end if;
      if op = 3 or op = 5 or op = 9 or op = 11 then
        header := header + 4;
      end if;
      len    := n - header - 4 - pad;
      begins := op = 0 or op = 4 or op = 5 or op = 6 or op >= 10;
      ends   := not (op = 0 or op = 1 or op = 6 or op = 7);
      count  := 1;
      if op = 12 and dmalen > 0 then
        count := (dmalen + PMTU - 1) / PMTU;
      end if;
      diff      := psn - epsn;
      access_ok := header < HEADERS + 16 or dmalen = 0 or
                   (number(rx, HEADERS + 8, 4) = unsigned(RKEY) and va(63 downto 16) = 0 and to_integer(va(15 downto 0)) + dmalen <= 65536);
      requests := requests + 1;
      i        := count;
      state    := RECEIVING;
      if failed or op > 12 or (BUG = 11 and requests > 25) then
        null;
      elsif diff(23) = '1' then                -- a duplicate
        if op = 12 then
          if access_ok then
            i        := 0;
            read_at  := to_integer(va(15 downto 0));
            read_len := dmalen;
            if BUG = 14 and dmalen > 1 then
              read_len := dmalen - 1;
            end if;
            state := READING;
          end if;
        else
          if BUG = 6 and ends then
            msn := msn + 1;
          end if;
          if rx(50)(7) = '1' then
            answer(epsn - 1, 16#1f#);
          end if;
        end if;
      elsif diff /= 0 then                     -- something is missing
        if not naked then
          naked := true;
          answer(epsn, 16#60#);
        end if;
      elsif not access_ok then
        failed := true;
        answer(epsn, 16#62#);
      else
        naked := false;
        epsn  := epsn + count;
        if op = 12 then
          msn      := msn + 1;
          i        := 0;
          read_at  := to_integer(va(15 downto 0));
          read_len := dmalen;
          state    := READING;
        else
          if begins then
            offset := 0;
            target := RECV_ADDR;
            if op >= 6 then
              target := to_integer(va(15 downto 0));
            end if;
          end if;
          for k in 0 to len - 1 loop
            memory((target + offset + k) mod 65536) := rx(header + k);
          end loop;
          offset := offset + len;
          if ends then
            msn := msn + 1;
          end if;
          if rx(50)(7) = '1' then
            answer(psn, 16#1f#);
          end if;
        end if;
      end if;
    end procedure;

    -- The next packet of the answer to a READ.
    procedure respond is
      variable opcode, length, from : natural;
    begin
      if count = 1 then
        opcode := 16#10#;
      elsif i = 0 then
        opcode := 16#0d#;
      elsif i = count - 1 then
        opcode := 16#0f#;
      else
        opcode := 16#0e#;
      end if;
      length := read_len - i * PMTU;
      if length > PMTU then
        length := PMTU;
      end if;
      from := read_at + i * PMTU;
      if BUG = 8 and i /= 0 then
        from := from + 4;
      end if;
      make(opcode, psn + i, opcode /= 16#0e#, 16#1f#, from, length);
      i := i + 1;
    end procedure;
  begin
    if rising_edge(clk) then
      if not filled then
        for k in memory'range loop
          memory(k) := pattern(k);
        end loop;
        filled := true;
      end if;
      if resetn = '0' then
        state := RECEIVING;
        n := 0;
        epsn := to_unsigned(RQ_PSN, 24);
        msn := (others => '0');
        ident := (others => '0');
        naked := false;
        failed := false;
        requests := 0;
        acks := 0;
        ready := '0';
        valid := '0';
      else
        -- Frames come in only while nothing is being answered.
        if ready = '1' and rx_tvalid = '1' then
          for k in 0 to LANES - 1 loop
            if rx_tkeep(k) = '1' and n < rx'length then
              rx(n) := unsigned(rx_tdata(8 * k + 7 downto 8 * k));
              n := n + 1;
            end if;
          end loop;
          if rx_tlast = '1' then
            good := rx_tuser /= '1' and shown(rx, n);
            if good then
              size := ETHERNET + to_integer(number(rx, 16, 2));
              good := icrc(rx, size - 4) = rx(size - 1) & rx(size - 2) & rx(size - 3) & rx(size - 4);
            end if;
            if good then
              state := HANDLING;
            end if;
            if not good then
              n := 0;
            end if;
          end if;
        end if;
        if valid = '0' or tx_tready = '1' then
          valid := '0';
          case state is
            when RECEIVING => null;
            when HANDLING => handle; n := 0;
            when READING => respond;
            when SENDING =>
              valid := '1';
              for k in 0 to LANES - 1 loop
                if at < size then
                  tx_tdata(8 * k + 7 downto 8 * k) <= std_logic_vector(tx(at));
                  tx_tkeep(k) <= '1';
                  at := at + 1;
                else
                  tx_tdata(8 * k + 7 downto 8 * k) <= (others => '0');
                  tx_tkeep(k) <= '0';
                end if;
              end loop;
              tx_tlast <= '0';
              if at = size then
                tx_tlast <= '1';
                state := RECEIVING;
                if i < count then
                  state := READING;
                end if;
              end if;
          end case;
        end if;
        ready := '0';
        if state = RECEIVING then
          ready := '1';
        end if;
      end if;
      rx_tready <= ready;
      refused   <= '0';
      if failed then
        refused <= '1';
      end if;
      tx_tvalid <= valid;
    end if;
  end process;
end architecture;
