/* SPDX-License-Identifier: Apache-2.0 */
/* Small library that the dynamic linker loads into clang. It speeds up clang's dump of debug values (ptx_values.c). clang
 * writes this dump to standard error one word at a time, each with a system call. The library buffers the words from
 * "*** IR Dump After" to "# End machine code" and passes all other output through. ptx_subprocess.c contains the compiled
 * library as bytes. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char first_word[] = "*** IR Dump After ", last_word[] = "\n# End machine code for function ";
static char words[1 << 16];
static size_t word_bytes;
static char collecting, busy; /* collecting: true while the words of a dump are buffered; busy: true while a thread is inside
                               * write() */

__attribute__((destructor)) static void put_words(void)
{
    for (size_t done = 0; done < word_bytes;) {
        const long got = syscall(SYS_write, STDERR_FILENO, words + done, word_bytes - done);

        if (got < 0 && errno != EINTR)
            break; /* the reader has closed the pipe */
        done += got < 0 ? 0 : (size_t)got;
    }
    word_bytes = 0;
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *data, size_t size)
{
    if (fd != STDERR_FILENO || __atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
        return syscall(SYS_write, fd, data, size);
    if (collecting && size >= sizeof last_word - 1 && memcmp(data, last_word, sizeof last_word - 1) == 0)
        collecting = 0;
    else
        collecting |= size >= sizeof first_word - 1 && memcmp(data, first_word, sizeof first_word - 1) == 0;
    if (!collecting || size > sizeof words - word_bytes)
        put_words();
    if (collecting && size <= sizeof words) {
        memcpy(words + word_bytes, data, size);
        word_bytes += size;
        __atomic_clear(&busy, __ATOMIC_RELEASE);
        return (ssize_t)size;
    }
    __atomic_clear(&busy, __ATOMIC_RELEASE);
    return syscall(SYS_write, fd, data, size);
}
