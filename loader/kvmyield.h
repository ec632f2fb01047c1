/* SPDX-License-Identifier: GPL-2.0 */
/* What the loader's files share: exit status, options, errors, output. */
#ifndef KVMYIELD_H
#define KVMYIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>
#include <linux/types.h>

/* Documented in --help; scripts depend on them. */
enum exit_status {
	DONE		= 0,
	USAGE		= 1,
	REFUSED		= 2,
	NOT_LOADED	= 3,
	UNSUPPORTED	= 4,
	EJECTED		= 5,
};

enum metrics {
	METRICS_NONE,
	METRICS_PROM,
	METRICS_OPEN,
};

/**
 * struct options - what the command line says
 * @vm: the process id of the VM that is meant; 0: all of them
 * @interval: look again after so many seconds; 0: look once
 * @count: and so often; 0: for ever
 * @metrics: answer as metrics
 * @output: into this file; NULL: to the standard output
 */
struct options {
	bool		json;
	bool		quiet;
	bool		verbose;
	bool		force;
	int		vm;
	double		interval;
	unsigned int	count;
	enum metrics	metrics;
	const char	*output;
};

extern struct options opt;

/*
 * error.c: there is one error path. A function that fails says why, in one
 * sentence, and returns the exit status; main() prints the sentence. The first
 * sentence is kept: it is the nearest to the cause.
 */
int fail(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *error_text(void);
int error_status(void);
void error_forget(void);
void error_print(int status);

/* output.c: for people unless -j or -q is given. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_field(const char *key, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *plain_text(char *s);
json_t *json_text(const char *s);
const char *strerror_plain(int err);

/* nearest.c */
const char *nearest(const char *word, const char *const *words, size_t n);

/* A verb: fills @out for -j, prints for people, returns an exit status. */
typedef int (*verb_fn)(int argc, char **argv, json_t *out);

int do_load(int argc, char **argv, json_t *out);
int do_replace(int argc, char **argv, json_t *out);
int do_unload(int argc, char **argv, json_t *out);
int do_status(int argc, char **argv, json_t *out);
int do_list(int argc, char **argv, json_t *out);
int do_check(int argc, char **argv, json_t *out);
int do_features(int argc, char **argv, json_t *out);
int do_stats(int argc, char **argv, json_t *out);

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#endif /* KVMYIELD_H */
