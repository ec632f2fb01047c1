// SPDX-License-Identifier: GPL-2.0
/* Output for people, and text that is safe to show. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kvmyield.h"

#define KEY_WIDTH	12

void say(const char *fmt, ...)
{
	va_list ap;

	if (opt.json || opt.quiet)
		return;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* One line "key:  value", the values aligned. */
void say_field(const char *key, const char *fmt, ...)
{
	char label[64];
	va_list ap;

	if (opt.json || opt.quiet)
		return;

	snprintf(label, sizeof(label), "%s:", key);
	printf("%-*s ", KEY_WIDTH, label);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/*
 * Names and messages come from files and from the kernel: nothing in them may
 * move the cursor of whoever reads them.
 */
char *plain_text(char *s)
{
	unsigned char *c;

	for (c = (unsigned char *)s; *c; c++) {
		if (*c == '\t')
			*c = ' ';
		else if (*c < ' ' || *c == 0x7f)
			*c = '?';
	}

	return s;
}

/* A JSON string of any bytes: those that are not UTF-8 become question marks. */
json_t *json_text(const char *s)
{
	json_t *text = json_string(s);
	char copy[1024];
	char *c;

	if (text)
		return text;

	snprintf(copy, sizeof(copy), "%s", s);
	for (c = copy; *c; c++) {
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	}

	return json_string(copy);
}

/* strerror() for the middle of a sentence. */
const char *strerror_plain(int err)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s", strerror(err));
	if (text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z')
		text[0] += 'a' - 'A';

	return text;
}
