-- Bytes of frames, and the checksums over them, for the responder in VHDL and its bench.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

package roce_bytes is
  subtype byte is unsigned(7 downto 0);
  type bytes is array (natural range <>) of byte;
  subtype word is unsigned(31 downto 0);

  constant ETHERNET : natural := 14;
  constant HEADERS  : natural := 54;  -- Ethernet, IPv4, UDP, BTH

  -- One byte into a CRC-32, bits reflected.
  function crc32_byte(crc : word; data : byte) return word;
  -- The ICRC over the packet in f from its IP header to before byte stop; fields that may change on the way count as ones.
  function icrc(f : bytes; stop : natural) return word;
  -- n bytes of f from at on, the first the highest.
  function number(f : bytes; at, n : natural) return unsigned;
  -- What the memory of the responder holds at an address after reset.
  function pattern(addr : natural) return byte;
end package;

package body roce_bytes is
  constant SEED : word := x"debb20e3";  -- CRC-32 of eight bytes of ones, which stand for the LRH

  function crc32_byte(crc : word; data : byte) return word is
    variable c : word := crc;
  begin
    c(7 downto 0) := c(7 downto 0) xor data;
    for k in 1 to 8 loop
      if c(0) = '1' then
        c := shift_right(c, 1) xor x"edb88320";
      else
        c := shift_right(c, 1);
      end if;
    end loop;
    return c;
  end function;

  function icrc(f : bytes; stop : natural) return word is
    variable crc : word := SEED;
    variable b   : byte;
  begin
    for i in ETHERNET to stop - 1 loop
      b := f(i);
      case i - ETHERNET is
        when 1 | 8 | 10 | 11 | 26 | 27 | 32 => b := x"ff";
        when others => null;
      end case;
      crc := crc32_byte(crc, b);
    end loop;
    return not crc;
  end function;

  function number(f : bytes; at, n : natural) return unsigned is
    variable v : unsigned(8 * n - 1 downto 0);
  begin
    for i in 0 to n - 1 loop
      v(8 * (n - i) - 1 downto 8 * (n - i - 1)) := f(at + i);
    end loop;
    return v;
  end function;

  function pattern(addr : natural) return byte is
  begin
    return to_unsigned((addr * 7 + addr / 128) mod 256, 8);
  end function;
end package body;
