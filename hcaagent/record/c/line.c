/* Lines of a log: docs/events.md has the format. */
#include "record.h"

#include <endian.h>
#include <string.h>
#include <time.h>

enum { longest = 16 << 10 }; /* a line takes less than this, and most of them 200 bytes */

uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void put(struct device *d, const char *text, size_t n)
{
	memcpy(d->at, text, n);
	d->at += n;
}

/* pairs are the numbers from 0 to 99 as digits. */
static char pairs[100][2];

__attribute__((constructor)) static void make_pairs(void)
{
	for (int i = 0; i < 100; i++) {
		pairs[i][0] = '0' + i / 10;
		pairs[i][1] = '0' + i % 10;
	}
}

void put_number(struct device *d, const char *name, size_t n, uint64_t v)
{
	char digits[20], *p = digits + sizeof digits;
	put(d, name, n);
	for (; v >= 100; v /= 100)
		memcpy(p -= 2, pairs[v % 100], 2);
	if (v >= 10)
		memcpy(p -= 2, pairs[v], 2);
	else
		*--p = '0' + v;
	put(d, p, digits + sizeof digits - p);
}

void put_string(struct device *d, const char *name, size_t n, const char *text)
{
	put(d, name, n);
	put(d, text, strlen(text));
	*d->at++ = '"';
}

#define PUT(d, text) put(d, text, sizeof text - 1)

void line_at(struct device *d, const char *event, uint64_t t)
{
	if (!d->named && ++d->unnamed == header)
		device_guessed(d);
	if (d->buffer + sizeof d->buffer - d->at < longest)
		device_flush(d);
	put_number(d, "{\"t\":", 5, t);
	put_text(d, "ev", event);
}

void line(struct device *d, const char *event) { line_at(d, event, now()); }

void line_end(struct device *d) { PUT(d, "}\n"); }

void put_segments(struct device *d, const struct ibv_sge *list, int n)
{
	enum { most = 128 }; /* that a line has room for; no device takes as many */
	if (n <= 0)
		return;
	PUT(d, ",\"sge\":[");
	for (int i = 0; i < n && i < most; i++) {
		if (i)
			*d->at++ = ',';
		put_number(d, "{\"addr\":", 8, list[i].addr);
		put_u64(d, "length", list[i].length);
		put_u64(d, "lkey", list[i].lkey);
		*d->at++ = '}';
	}
	*d->at++ = ']';
}

static uint32_t table[8][256];

__attribute__((constructor)) static void make_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (0xEDB88320 & -(c & 1));
		table[0][i] = c;
	}
	for (int t = 1; t < 8; t++)
		for (int i = 0; i < 256; i++)
			table[t][i] = table[t - 1][i] >> 8 ^ table[0][table[t - 1][i] & 255];
}

uint32_t crc32_add(uint32_t crc, const void *data, size_t n)
{
	const unsigned char *p = data;
	crc = ~crc;
	for (; n >= 8; n -= 8, p += 8) {
		uint32_t a, b;
		memcpy(&a, p, 4);
		memcpy(&b, p + 4, 4);
		a = le32toh(a) ^ crc;
		b = le32toh(b);
		crc = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^ table[4][a >> 24] ^ table[3][b & 255] ^ table[2][b >> 8 & 255] ^
		      table[1][b >> 16 & 255] ^ table[0][b >> 24];
	}
	for (; n; n--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 255];
	return ~crc;
}
