-- replay.sv in VHDL: plays what frames/main.go has written, replay.txt, at two AXI4-Stream ports that monitors watch.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use std.textio.all;
use work.ibwitness_pkg.all;

entity replay is
  generic (
    W : positive := 512;
    BIG_ENDIAN : boolean := false;
    HALF : positive := 1;     -- half a clock cycle, in nanoseconds
    STOP : boolean := false;
    IDLE : natural := 0;      -- how long nothing comes after what is played, in nanoseconds
    RESET_AT : natural := 0;  -- reset the device at that time, in nanoseconds
    HANG : boolean := false;  -- never end
    FINISH : boolean := true; -- end the run before the simulation
    FATAL_AT : natural := 0   -- end by a failure at that time, in nanoseconds
  );
end entity;

architecture bench of replay is
  signal clk, rst_n, up, again, tlast, violation : std_logic := '0';
  signal tdata : std_logic_vector(W - 1 downto 0);
  signal tkeep : std_logic_vector(W / 8 - 1 downto 0);
  signal tvalid : std_logic_vector(2 downto 1) := "00";
  signal rule_id : string(1 to 32);
  signal errors, frames : natural;
begin

  rst_n <= up and not again;
  clk <= not clk after HALF * 1 ns;

  ibw_rx : entity work.ibwitness_axis_monitor
    generic map (W => W, TAP => "dut.rx", DIRECTION => IBW_IN, BIG_ENDIAN => BIG_ENDIAN, STOP => STOP, CONFIG => "ibw.json")
    port map (aclk => clk, aresetn => rst_n, tvalid => tvalid(1), tdata => tdata, tkeep => tkeep, tlast => tlast);
  ibw_tx : entity work.ibwitness_axis_monitor
    generic map (W => W, TAP => "dut.tx", DIRECTION => IBW_OUT, BIG_ENDIAN => BIG_ENDIAN, STOP => STOP, CONFIG => "ibw.json")
    port map (aclk => clk, aresetn => rst_n, tvalid => tvalid(2), tdata => tdata, tkeep => tkeep, tlast => tlast, violation => violation, rule_id => rule_id,
      errors => errors, frames => frames);

  -- What a waveform shows.
  process
  begin
    wait until rising_edge(clk) and violation = '1';
    report "violation at dut.tx: " & rule_id(1 to 7) & ", errors " & integer'image(errors) & ", frames " & integer'image(frames);
  end process;

  -- What drives the ports changes between the edges that monitors look at.
  process
    file played : text open read_mode is "replay.txt";
    variable l : line;
    variable at, kind, n, hca, lane : integer;
    variable run : integer;
    variable b : std_logic_vector(7 downto 0);
    variable rest : string(1 to 4096);
    variable good : boolean;
    variable space : character;
  begin
    run := ibw_open("run", "ibw.json");
    hca := ibw_hca(run, "dut");
    for i in 1 to 4 loop
      wait until falling_edge(clk);
    end loop;
    up <= '1';
    wait until falling_edge(clk);
    while not endfile(played) loop
      readline(played, l);
      read(l, at);
      read(l, kind);
      while now < (at + 20) * 1 ns loop
        wait until falling_edge(clk);
      end loop;
      if kind = 0 then
        read(l, space);
        n := l'length;
        read(l, rest(1 to n));
        ibw_event(run, hca, rest(1 to n));
      else
        read(l, n);
        for i in 0 to (n - 1) / (W / 8) loop
          tdata <= (others => '0');
          tkeep <= (others => '0');
          for j in 0 to W / 8 - 1 loop
            exit when i * (W / 8) + j >= n;
            lane := j;
            if BIG_ENDIAN then
              lane := W / 8 - 1 - j;
            end if;
            read(l, space);
            hread(l, b);
            tdata(8 * lane + 7 downto 8 * lane) <= b;
            tkeep(lane) <= '1';
          end loop;
          tvalid(kind) <= '1';
          tlast <= '0';
          if (i + 1) * (W / 8) >= n then
            tlast <= '1';
          end if;
          wait until falling_edge(clk);
        end loop;
        tvalid <= "00";
        tlast <= '0';
      end if;
    end loop;
    wait for IDLE * 1 ns + 8 ns;
    if HANG then
      wait;
    end if;
    if FINISH then
      ibw_finish(run);
    end if;
    std.env.finish;
  end process;

  process
  begin
    if RESET_AT > 0 then
      wait until falling_edge(clk) and now >= RESET_AT * 1 ns;
      again <= '1';
      for i in 1 to 4 loop
        wait until falling_edge(clk);
      end loop;
      again <= '0';
    end if;
    wait;
  end process;

  process
  begin
    if FATAL_AT > 0 then
      wait for FATAL_AT * 1 ns;
      report "as was wanted" severity failure;
    end if;
    wait;
  end process;

end architecture;
