/* Makes the disk and the clock of one process fail on demand. Loaded with LD_PRELOAD.

   The file named by TORTURE_FAULTS has three integers of eight bytes each, which another process
   rewrites: whether a sync fails, whether the disk is full, and how far the clock is off in
   seconds. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct faults { volatile int64_t sync, full, clock; };
static struct faults none, *now = &none;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("TORTURE_FAULTS");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *seen = mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, file, 0);
    if (seen != MAP_FAILED) now = seen;
    close(file);
}

static int is_full(int file) {
    struct stat found;
    if (!now->full || fstat(file, &found) || !S_ISREG(found.st_mode)) return 0;
    errno = ENOSPC;
    return 1;
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)

int fsync(int file) {
    REAL(fsync);
    if (now->sync) { errno = EIO; return -1; }
    return real(file);
}

int fdatasync(int file) {
    REAL(fdatasync);
    if (now->sync) { errno = EIO; return -1; }
    return real(file);
}

ssize_t write(int file, const void *bytes, size_t count) {
    REAL(write);
    return is_full(file) ? -1 : real(file, bytes, count);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    REAL(pwrite);
    return is_full(file) ? -1 : real(file, bytes, count, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
    REAL(pwrite64);
    return is_full(file) ? -1 : real(file, bytes, count, at);
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    REAL(clock_gettime);
    int result = real(clock, at);
    if (!result && clock == CLOCK_REALTIME) at->tv_sec += now->clock;
    return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    REAL(gettimeofday);
    int result = real(at, zone);
    if (!result && at) at->tv_sec += now->clock;
    return result;
}

time_t time(time_t *at) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (at) *at = found.tv_sec;
    return found.tv_sec;
}
