// SPDX-License-Identifier: GPL-2.0
/*
 * The file of a policy before libbpf sees it: that it is a BPF object at all,
 * and the line of description that it carries.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy.h"

/* Policies have a few KiB; a file of gigabytes is a mistake. */
#define OBJECT_SIZE_MAX	(16 << 20)
#define DESC_SECTION	"kvmyield.desc"

static int read_all(int fd, const char *path, void *image, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = read(fd, (char *)image + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(REFUSED, "cannot read %s: %s", path,
				    n ? strerror_plain(errno) : "it got shorter");
		done += n;
	}

	return DONE;
}

static const char *machine_name(unsigned int machine)
{
	switch (machine) {
	case EM_X86_64:	return "x86-64";
	case EM_386:	return "i386";
	case EM_AARCH64: return "arm64";
	default:	return "some other machine";
	}
}

static int check_elf(const char *path, const void *image, size_t size)
{
	const Elf64_Ehdr *h = image;

	if (size < EI_NIDENT || memcmp(h->e_ident, ELFMAG, SELFMAG))
		return fail(USAGE, "%s is not an ELF file", path);
	if (size < sizeof(*h))
		return fail(USAGE, "%s is cut off: it has only the beginning of an ELF header", path);
	if (h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB)
		return fail(USAGE, "%s is not a 64-bit little-endian ELF file", path);
	if (h->e_machine != EM_BPF)
		return fail(USAGE, "%s holds code for %s, not BPF", path,
			    machine_name(h->e_machine));
	if (h->e_type != ET_REL)
		return fail(USAGE, "%s is not an object file (type %u)", path,
			    h->e_type);

	return DONE;
}

static int check_file(int fd, const char *path, size_t *size)
{
	struct stat st;

	if (fstat(fd, &st))
		return fail(REFUSED, "cannot look at %s: %s", path,
			    strerror_plain(errno));
	if (S_ISDIR(st.st_mode)) {
		hint("name one .bpf.o file in it");
		return fail(USAGE, "%s is a directory, not a policy", path);
	}
	if (!S_ISREG(st.st_mode))
		return fail(USAGE, "%s is not a file", path);
	if (!st.st_size)
		return fail(USAGE, "%s is empty", path);
	if (st.st_size > OBJECT_SIZE_MAX)
		return fail(USAGE, "%s is too large for a policy (%lld bytes, at most %d)",
			    path, (long long)st.st_size, OBJECT_SIZE_MAX);
	*size = st.st_size;

	return DONE;
}

static int open_failed(const char *path)
{
	if (errno == ENOENT || errno == ENOTDIR) {
		hint("kvmyield list shows the policies that have a name");
		return fail(USAGE, "there is no file %s", path);
	}

	return fail(REFUSED, "cannot open %s: %s", path, strerror_plain(errno));
}

/**
 * object_read - read a file that may be a policy
 * @path: the file
 * @image: receives its content; to be freed
 * @size: receives its size
 *
 * It is read once, so that what was checked is what gets loaded.
 *
 * Return: an exit status
 */
int object_read(const char *path, void **image, size_t *size)
{
	int fd, status;

	/* Nonblocking: opening a fifo must not wait for a writer. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return open_failed(path);

	*image = NULL;
	status = check_file(fd, path, size);
	if (status)
		goto out;
	*image = malloc(*size);
	if (!*image) {
		status = fail(REFUSED, "out of memory");
		goto out;
	}
	status = read_all(fd, path, *image, *size);
	if (!status) {
		status = check_elf(path, *image, *size);
		if (status)
			hint("a policy is a .bpf.o file made by clang -target bpf");
	}
	if (status) {
		free(*image);
		*image = NULL;
	}
out:
	close(fd);

	return status;
}

static Elf_Data *find_section(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	const char *this;
	size_t strings;
	GElf_Shdr shdr;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_PROGBITS)
			continue;
		this = elf_strptr(elf, strings, shdr.sh_name);
		if (this && !strcmp(this, name))
			return elf_rawdata(scn, NULL);
	}

	return NULL;
}

/**
 * object_desc - the line of description in a policy's file
 * @image: the file's content
 * @size: its size
 * @desc: receives the line; "" if there is none
 * @len: size of @desc
 */
void object_desc(void *image, size_t size, char *desc, size_t len)
{
	Elf_Data *data;
	size_t n;
	Elf *elf;

	desc[0] = '\0';
	if (elf_version(EV_CURRENT) == EV_NONE)
		return;
	elf = elf_memory(image, size);
	if (!elf)
		return;

	data = find_section(elf, DESC_SECTION);
	if (data && data->d_buf) {
		n = strnlen(data->d_buf, data->d_size);
		snprintf(desc, len, "%.*s", (int)(n < len ? n : len - 1),
			 (const char *)data->d_buf);
		plain_text(desc);
	}
	elf_end(elf);
}
