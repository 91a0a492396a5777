-- A monitor of what one port of an InfiniBand link sends, for GHDL: packets between their delimiters, which are not among the data, each judged at its last beat. A link has two
-- ports, thus two monitors of one tap, whose link is "link" in the configuration. It drives nothing but its own outputs:
--
--   ibw_link_tx : entity work.ibwitness_link_monitor generic map (W => 32, TAP => "link", PORT_NUMBER => 0, CONFIG => "ibw.json")
--     port map (clk => clk, valid => tx_valid, data => tx_data, keep => tx_keep, last => tx_last, link_packet => tx_is_link, state => "101");
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.ibwitness_pkg.all;

entity ibwitness_link_monitor is
  generic (
    W : positive := 32;               -- bits of data, a multiple of 8
    TAP : string := "link";           -- its name in the configuration
    PORT_NUMBER : natural := 0;       -- of the link: 0 or 1
    RUN : string := "run";            -- monitors of one run share it
    CONFIG : string := "";            -- JSON, or the name of a file with it
    BIG_ENDIAN : boolean := false;    -- the first byte of a packet is in data(W-1 downto W-8), not in data(7 downto 0)
    STOP : boolean := false;          -- the first error ends the simulation, by a failure
    ADVANCE : time := 1 ms            -- how often the library is told the time where no packet comes
  );
  port (
    clk : in std_logic;
    valid : in std_logic;
    data : in std_logic_vector(W - 1 downto 0); -- from LRH through VCRC, or a link packet with its LPCRC
    keep : in std_logic_vector(W / 8 - 1 downto 0) := (others => '1');
    last : in std_logic;
    ebp : in std_logic := '0';        -- at any beat: the packet ends with EBP
    link_packet : in std_logic;       -- it is a link packet (SLP), and not a data packet (SDP)
    state : in std_logic_vector(2 downto 0) := "000"; -- PortPhysicalState, 5 where the link is up; 0: it is not known
    violation : out std_logic := '0'; -- for one cycle after a beat that has shown an error
    rule_id : out string(1 to 32) := (others => nul); -- its rule
    errors : out natural := 0;        -- of this monitor
    packets : out natural := 0
  );
end entity;

architecture monitor of ibwitness_link_monitor is
begin

  watch : process
    constant path : string := ibwitness_link_monitor'path_name; -- which ends in a colon
    constant from : string := path(path'left to path'right - 1);
    constant handle : integer := ibw_open(RUN, CONFIG);
    constant number : integer := ibw_tap(handle, TAP);
    variable told, more, all_errors, all_packets : natural := 0;
    variable was : std_logic_vector(2 downto 0) := "000";
    variable id, first : string(1 to 32);

    impure function beat return integer is
      variable symbols : natural := IBW_DATA_PACKET;
      variable flags : natural := 0;
    begin
      if link_packet = '1' then
        symbols := IBW_LINK_PACKET;
      end if;
      if last = '1' then
        flags := flags + 1;
      end if;
      if ebp = '1' then
        flags := flags + 2;
      end if;
      if BIG_ENDIAN then
        flags := flags + 4;
      end if;
      return ibw_symbols(handle, number, PORT_NUMBER, symbols, data, keep, flags);
    end function;

    procedure tell(n : integer) is
    begin
      ibw_tell(handle, n, from, STOP, more, first);
      if told = 0 then
        id := first;
      end if;
      told := told + more;
    end procedure;
  begin
    loop
      wait until rising_edge(clk);
      told := 0;
      if ibw_due(handle, ADVANCE) then
        tell(ibw_advance(handle));
      end if;
      if not is_x(state) and state /= was then
        was := state;
        if state /= "000" then
          tell(ibw_port_state(handle, number, PORT_NUMBER, to_integer(unsigned(state))));
        end if;
      end if;
      if valid = '1' then
        tell(beat);
        if last = '1' then
          all_packets := all_packets + 1;
        end if;
      end if;
      packets <= all_packets;
      violation <= '0';
      if told > 0 then
        all_errors := all_errors + told;
        errors <= all_errors;
        rule_id <= id;
        violation <= '1';
      end if;
    end loop;
  end process;

end architecture;
