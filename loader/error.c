// SPDX-License-Identifier: GPL-2.0
/* The one error path: a sentence, and a way out where one is known. */
#include <stdarg.h>
#include <stdio.h>

#include "kvmyield.h"

static char message[1024];
static int status_kept;
static char way_out[512];

/**
 * fail - say why this did not work
 * @status: exit status to return
 * @fmt: the sentence, without a full stop
 *
 * Return: @status
 */
int fail(int status, const char *fmt, ...)
{
	va_list ap;

	if (message[0])
		return status;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	plain_text(message);
	status_kept = status;

	return status;
}

/**
 * hint - say what can be done about the failure
 * @fmt: a command, or a few words
 */
void hint(const char *fmt, ...)
{
	va_list ap;

	if (way_out[0])
		return;

	va_start(ap, fmt);
	vsnprintf(way_out, sizeof(way_out), fmt, ap);
	va_end(ap);
	plain_text(way_out);
}

const char *error_text(void)
{
	return message;
}

/* The status of the sentence that was kept; DONE if there is none. */
int error_status(void)
{
	return message[0] ? status_kept : DONE;
}

/* A failure that its caller can do without. */
void error_forget(void)
{
	message[0] = '\0';
	way_out[0] = '\0';
}

static void error_print_json(int status)
{
	json_t *root, *error;

	error = json_pack("{s:o,s:o?,s:i}", "message", json_text(message),
			  "hint", way_out[0] ? json_text(way_out) : json_null(),
			  "status", status);
	root = json_pack("{s:i,s:o}", "schema", 1, "error", error);
	if (!root)
		return;

	json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
}

void error_print(int status)
{
	if (!message[0])
		return;

	fprintf(stderr, "kvmyield: %s\n", message);
	if (way_out[0])
		fprintf(stderr, "hint: %s\n", way_out);
	if (opt.json)
		error_print_json(status);
}
