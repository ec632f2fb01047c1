// SPDX-License-Identifier: GPL-2.0
/*
 * What libbpf and the verifier say. libbpf tells the cause of a failure only in
 * the lines that it prints, the verifier in the last lines of a long log: both
 * are listened to here, and not shown unless asked for.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"

#define LOG_BEGIN	"-- BEGIN PROG LOAD LOG --\n"
#define LOG_END		"-- END PROG LOAD LOG --"

static char first_warning[512];
static char *log_text;		/* "prog 'x': -- BEGIN ...", as libbpf printed it */

static void keep_warning(const char *text)
{
	const char *prefix = "libbpf: ";

	if (first_warning[0])
		return;

	if (!strncmp(text, prefix, strlen(prefix)))
		text += strlen(prefix);
	snprintf(first_warning, sizeof(first_warning), "%s", text);
	first_warning[strcspn(first_warning, "\n")] = '\0';
	plain_text(first_warning);
}

static int listen_to_libbpf(enum libbpf_print_level level, const char *fmt,
			    va_list ap)
{
	char *text;

	if (level != LIBBPF_WARN)
		return 0;
	if (vasprintf(&text, fmt, ap) < 0)
		return 0;

	if (opt.verbose)
		fputs(text, stderr);
	if (strstr(text, LOG_BEGIN)) {
		free(log_text);
		log_text = text;
		return 0;
	}
	keep_warning(text);
	free(text);

	return 0;
}

/* Begin to listen, with nothing heard so far. */
void libbpf_listen(void)
{
	first_warning[0] = '\0';
	free(log_text);
	log_text = NULL;
	libbpf_set_print(listen_to_libbpf);
}

/* The first complaint is the cause, the others follow from it. */
const char *libbpf_first_warning(void)
{
	return first_warning;
}

/* What the verifier prints after its reason: registers, figures. */
static bool is_afterword(const char *line)
{
	static const char *const begins[] = {
		"cur state:", "old state:", "verification time ", "stack depth ",
		"processed ", LOG_END,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		if (!strncmp(line, begins[i], strlen(begins[i])))
			return true;
	}

	return false;
}

static void copy_text(char *dst, size_t len, const char *src)
{
	snprintf(dst, len, "%s", src);
	plain_text(dst);
}

/*
 * "; x = *p; @ file.c:12" -> "file.c:12: x = *p;", as compilers write it. Without
 * a position the line stays as it is.
 */
static void copy_source(char *dst, size_t len, const char *line)
{
	const char *at = NULL, *next;

	line += strspn(line, "; ");
	for (next = line; (next = strstr(next, " @ ")); next += 3)
		at = next;
	if (at)
		snprintf(dst, len, "%s: %.*s", at + 3, (int)(at - line), line);
	else
		snprintf(dst, len, "%s", line);
	plain_text(dst);
}

static void copy_prog(struct verdict *v)
{
	const char *quote = strchr(log_text, '\'');

	if (quote)
		copy_text(v->prog, sizeof(v->prog), quote + 1);
	v->prog[strcspn(v->prog, "'")] = '\0';
}

/**
 * verifier_verdict - why the verifier refused a program
 * @v: receives the program, the reason, and the source line if the log has one
 *
 * Return: false if there is no log
 */
bool verifier_verdict(struct verdict *v)
{
	char *line, *rest, *copy;

	memset(v, 0, sizeof(*v));
	if (!log_text)
		return false;
	copy = strdup(strstr(log_text, LOG_BEGIN) + strlen(LOG_BEGIN));
	if (!copy)
		return false;

	copy_prog(v);
	rest = copy;
	while ((line = strsep(&rest, "\n"))) {
		if (!line[0] || is_afterword(line))
			continue;
		if (line[0] == ';')
			copy_source(v->source, sizeof(v->source), line);
		else
			copy_text(v->reason, sizeof(v->reason), line);
	}
	free(copy);

	return v->reason[0];
}
