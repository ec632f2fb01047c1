// SPDX-License-Identifier: GPL-2.0
/* Where policies are, and which one is meant by a word. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy.h"

#define SUFFIX		".bpf.o"
#define FILES_MAX	1024

static bool has_suffix(const char *s, const char *suffix)
{
	size_t ls = strlen(s), lx = strlen(suffix);

	return ls > lx && !strcmp(s + ls - lx, suffix);
}

/* The name of dir/name.bpf.o is name. */
static void name_from_path(struct policy_file *file)
{
	const char *base = strrchr(file->path, '/');
	size_t len;

	base = base ? base + 1 : file->path;
	len = strlen(base);
	if (has_suffix(base, SUFFIX))
		len -= strlen(SUFFIX);
	else if (has_suffix(base, ".o"))
		len -= 2;
	snprintf(file->name, sizeof(file->name), "%.*s", (int)len, base);
}

static bool files_have(const struct policy_files *files, const char *name)
{
	size_t i;

	for (i = 0; i < files->n; i++) {
		if (!strcmp(files->file[i].name, name))
			return true;
	}

	return false;
}

static int files_add(struct policy_files *files, const char *dir,
		     const char *base)
{
	struct policy_file *grown, *file;
	int len;

	if (files->n >= FILES_MAX || !has_suffix(base, SUFFIX) ||
	    strlen(base) - strlen(SUFFIX) >= POLICY_FILE_NAME_LEN)
		return DONE;

	grown = realloc(files->file, (files->n + 1) * sizeof(*grown));
	if (!grown)
		return fail(REFUSED, "out of memory");
	files->file = grown;

	file = &grown[files->n];
	len = snprintf(file->path, sizeof(file->path), "%s/%s", dir, base);
	if (len < 0 || (size_t)len >= sizeof(file->path))
		return DONE;
	name_from_path(file);
	/* The first directory that has a name wins, as in $PATH. */
	if (!files_have(files, file->name))
		files->n++;

	return DONE;
}

static int files_add_dir(struct policy_files *files, const char *path)
{
	struct dirent *entry;
	int status = DONE;
	DIR *dir;

	/* A directory of the path need not exist. */
	dir = opendir(path);
	if (!dir)
		return DONE;
	while (!status && (entry = readdir(dir)))
		status = files_add(files, path, entry->d_name);
	closedir(dir);

	return status;
}

static int files_add_env(struct policy_files *files)
{
	const char *env = getenv("KVMYIELD_POLICY_PATH");
	char *copy, *dir, *rest;
	int status = DONE;

	if (!env || !env[0])
		return DONE;
	copy = strdup(env);
	if (!copy)
		return fail(REFUSED, "out of memory");

	rest = copy;
	while (!status && (dir = strsep(&rest, ":"))) {
		if (dir[0])
			status = files_add_dir(files, dir);
	}
	free(copy);

	return status;
}

/* BIN/kvmyield finds BIN/../policies: a build directory, or one copied as a whole. */
static int files_add_beside(struct policy_files *files)
{
	char path[PATH_MAX];
	char *slash;
	ssize_t len;
	int i;

	len = readlink("/proc/self/exe", path, sizeof(path) - sizeof("/policies"));
	if (len <= 0)
		return DONE;
	path[len] = '\0';
	for (i = 0; i < 2; i++) {
		slash = strrchr(path, '/');
		if (!slash)
			return DONE;
		*slash = '\0';
	}
	strcat(path, "/policies");

	return files_add_dir(files, path);
}

static int by_name(const void *a, const void *b)
{
	const struct policy_file *fa = a, *fb = b;

	return strcmp(fa->name, fb->name);
}

/**
 * policy_files_read - find the policies that can be loaded by name
 * @files: receives them, sorted; release with policy_files_free()
 *
 * Return: an exit status
 */
int policy_files_read(struct policy_files *files)
{
	int status;

	memset(files, 0, sizeof(*files));
	status = files_add_env(files);
	if (!status)
		status = files_add_beside(files);
	if (!status)
		status = files_add_dir(files, "/usr/local/lib/kvmyield/policies");
	if (!status)
		status = files_add_dir(files, "/usr/lib/kvmyield/policies");
	if (status) {
		policy_files_free(files);
		return status;
	}
	if (files->n)
		qsort(files->file, files->n, sizeof(*files->file), by_name);

	return DONE;
}

void policy_files_free(struct policy_files *files)
{
	free(files->file);
	memset(files, 0, sizeof(*files));
}

static int no_such_policy(const struct policy_files *files, const char *word)
{
	const char **names;
	const char *near = NULL;
	size_t i;

	names = calloc(files->n + 1, sizeof(*names));
	if (names) {
		for (i = 0; i < files->n; i++)
			names[i] = files->file[i].name;
		near = nearest(word, names, files->n);
		free(names);
	}

	if (near)
		hint("did you mean '%s'? kvmyield list shows them all", near);
	else
		hint("kvmyield list shows the policies; a path must contain a '/' or end in .o");

	return fail(USAGE, "there is no policy '%s'", word);
}

/**
 * policy_find - find a policy by its name or its path
 * @word: what the user wrote
 * @file: receives where it is
 *
 * Return: an exit status
 */
int policy_find(const char *word, struct policy_file *file)
{
	struct policy_files files;
	int status;
	size_t i;

	if (strchr(word, '/') || has_suffix(word, ".o")) {
		if (strlen(word) >= sizeof(file->path))
			return fail(USAGE, "the path of the policy is too long");
		strcpy(file->path, word);
		name_from_path(file);
		return DONE;
	}

	status = policy_files_read(&files);
	if (status)
		return status;

	for (i = 0; i < files.n; i++) {
		if (!strcmp(files.file[i].name, word))
			break;
	}
	if (i < files.n)
		*file = files.file[i];
	else
		status = no_such_policy(&files, word);
	policy_files_free(&files);

	return status;
}
