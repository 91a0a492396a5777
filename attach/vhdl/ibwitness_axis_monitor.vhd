-- A monitor of an AXI4-Stream port of a device under test, for GHDL: each frame is judged at its last beat, and what is wrong is reported then. It drives nothing but its own
-- outputs. Instantiate it beside the device:
--
--   ibw_tx : entity work.ibwitness_axis_monitor generic map (W => 64, TAP => "dut.tx", DIRECTION => IBW_OUT, CONFIG => "ibw.json")
--     port map (aclk => clk, aresetn => rst_n, tvalid => tx_tvalid, tready => tx_tready, tdata => tx_tdata, tkeep => tx_tkeep, tlast => tx_tlast);
library ieee;
use ieee.std_logic_1164.all;
use work.ibwitness_pkg.all;

entity ibwitness_axis_monitor is
  generic (
    W : positive := 64;               -- bits of tdata, a multiple of 8
    TAP : string := "port";           -- its name in the configuration
    RUN : string := "run";            -- monitors of one run share it
    CONFIG : string := "";            -- JSON, or the name of a file with it
    DIRECTION : natural := IBW_UNKNOWN; -- IBW_OUT: frames leave the device; IBW_IN: they reach it; IBW_UNKNOWN: it follows from "near" and their addresses
    BIG_ENDIAN : boolean := false;    -- the first byte of a frame is in tdata(W-1 downto W-8), not in tdata(7 downto 0)
    STOP : boolean := false;          -- the first error ends the simulation, by a failure
    OUTSTANDING : boolean := true;    -- requests and work requests that are not done at the end fail the run
    ADVANCE : time := 1 us            -- how often the library is told the time where no frame comes
  );
  port (
    aclk : in std_logic;
    aresetn : in std_logic;           -- of the device. A reset is told: its queue pairs begin anew
    tvalid : in std_logic;
    tready : in std_logic := '1';
    tdata : in std_logic_vector(W - 1 downto 0);
    tkeep : in std_logic_vector(W / 8 - 1 downto 0) := (others => '1');
    tlast : in std_logic;
    tuser : in std_logic := '0';      -- at any beat: its sender gives the frame up
    violation : out std_logic := '0'; -- for one cycle after a beat that has shown an error
    rule_id : out string(1 to 32) := (others => nul); -- its rule
    errors : out natural := 0;        -- of this monitor
    frames : out natural := 0
  );
end entity;

architecture monitor of ibwitness_axis_monitor is
begin

  watch : process
    constant path : string := ibwitness_axis_monitor'path_name; -- which ends in a colon
    constant from : string := path(path'left to path'right - 1);
    constant handle : integer := ibw_open(RUN, CONFIG);
    constant number : integer := ibw_tap(handle, TAP);
    variable running : boolean := false; -- it has been out of reset
    variable told, more, all_errors, all_frames : natural := 0;
    variable id, first : string(1 to 32);

    impure function beat return integer is
      variable flags : natural := 0;
    begin
      if tlast = '1' then
        flags := flags + 1;
      end if;
      if tuser = '1' then
        flags := flags + 2;
      end if;
      if BIG_ENDIAN then
        flags := flags + 4;
      end if;
      return ibw_beat(handle, number, DIRECTION, tdata, tkeep, flags);
    end function;

    procedure tell(n : integer) is
    begin
      ibw_tell(handle, n, from, STOP, more, first);
      if told = 0 then
        id := first;
      end if;
      told := told + more;
    end procedure;

    variable n : integer;
  begin
    if not OUTSTANDING then
      ibw_lenient(handle);
    end if;
    loop
      wait until rising_edge(aclk);
      told := 0;
      if ibw_due(handle, ADVANCE) then
        tell(ibw_advance(handle));
      end if;
      if aresetn /= '1' then
        if running then
          tell(ibw_reset(handle, number));
        end if;
        running := false;
      else
        running := true;
        if tvalid = '1' and tready = '1' then
          n := beat;
          if tlast = '1' then
            all_frames := all_frames + 1;
          end if;
          if tlast = '1' or n /= 0 then
            tell(n);
          end if;
        end if;
      end if;
      frames <= all_frames;
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
