// SPDX-License-Identifier: GPL-2.0
/*
 * For a guest: put another "kernel" in place by kexec_load(). It says on the
 * serial port that it runs, and spins for ever; it knows nothing of MSRs.
 *
 * usage: other-kernel boot    load it, and start it by a reboot
 *        other-kernel crash   load it into what crashkernel= has set aside
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <sys/reboot.h>
#include <sys/syscall.h>

#define PAGE 4096
/* Free memory, below what the guest's kernel is loaded to. */
#define SOMEWHERE 0x800000

/*
 * It is entered in 64-bit mode with memory mapped one to one, and has no stack.
 * The serial port of QEMU waits for nobody.
 */
extern char code_begin[], code_end[];
asm(".section .rodata\n"
    "code_begin:\n"
    "	lea	text(%rip), %rsi\n"
    "	mov	$0x3f8, %edx\n"
    "1:	lodsb\n"
    "	test	%al, %al\n"
    "	jz	2f\n"
    "	out	%al, %dx\n"
    "	jmp	1b\n"
    "2:	pause\n"
    "	jmp	2b\n"
    "text:	.asciz \"\\r\\nthe other kernel runs\\r\\n\"\n"
    "code_end:\n"
    ".text\n");

static unsigned long crash_memory(void)
{
	char line[256];
	unsigned long from = 0;
	FILE *f = fopen("/proc/iomem", "r");

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "Crash kernel") && sscanf(line, "%lx", &from) == 1)
			break;
	if (f)
		fclose(f);
	return from;
}

int main(int argc, char **argv)
{
	int crash = argc > 1 && !strcmp(argv[1], "crash");
	struct kexec_segment segment = {
		.buf = code_begin,
		.bufsz = code_end - code_begin,
		.mem = (void *)(crash ? crash_memory() : SOMEWHERE),
		.memsz = PAGE,
	};

	if (!segment.mem) {
		fprintf(stderr, "no memory is set aside\nhint: crashkernel=16M\n");
		return 1;
	}
	if (syscall(SYS_kexec_load, segment.mem, 1UL, &segment,
		    (crash ? KEXEC_ON_CRASH : 0) | KEXEC_ARCH_X86_64)) {
		fprintf(stderr, "kexec_load: %s\n", strerror(errno));
		return 1;
	}
	if (!crash)
		reboot(LINUX_REBOOT_CMD_KEXEC);
	return 0;
}
