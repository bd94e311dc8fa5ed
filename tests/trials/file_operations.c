/* Counts the file operations that a process makes below a folder, and disturbs them.

   Loaded with LD_PRELOAD. The environment says what it does:

   TRIAL_FOLDER      operations that change something below this folder are counted
   TRIAL_LOG         file outside of the folder; one line for each operation:
                     number, kind, path, separated by tabs
   TRIAL_KILL        number of the operation before which the process kills itself
   TRIAL_KILL_AFTER  the same, but after the operation
   TRIAL_FULL        from this operation on the disk is full: what needs room fails
                     with ENOSPC, and statvfs reports no free blocks

   While the disk is full, only a file that becomes shorter by truncation gives room
   back, as on a disk that others fill too. An operation of stdio is counted when the
   program calls it; what glibc writes inside of fclose and fflush is not seen. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static size_t folder_length;
static long kill_before, kill_after, full_from;
static int log_to = -1;
static atomic_long counted;
static atomic_long room; /* bytes that truncations gave back since the disk is full */

#define REAL(name, type, ...)                                    \
    static type (*real)(__VA_ARGS__);                            \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static long number(const char *name) {
    const char *value = getenv(name);
    return value ? atol(value) : 0;
}

__attribute__((constructor)) static void start(void) {
    const char *below = getenv("TRIAL_FOLDER"), *log = getenv("TRIAL_LOG");
    if (below && realpath(below, folder)) folder_length = strlen(folder);
    if (log) log_to = syscall(SYS_openat, AT_FDCWD, log,
                              O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    kill_before = number("TRIAL_KILL");
    kill_after = number("TRIAL_KILL_AFTER");
    full_from = number("TRIAL_FULL");
    unsetenv("LD_PRELOAD"); /* a child process would count from 1 again */
}

static int is_below(const char *path) {
    return folder_length && !strncmp(path, folder, folder_length) &&
           path[folder_length] == '/';
}

/* Puts the absolute path into `found`, without . and .. only where the parent
   exists; returns whether it is below the folder. */
static int locate(int at, const char *path, char *found) {
    char joined[PATH_MAX * 2], parent[PATH_MAX];
    if (!folder_length || !path || strlen(path) >= PATH_MAX) return 0;
    if (path[0] == '/') {
        strcpy(joined, path);
    } else {
        char link[64], base[PATH_MAX];
        if (at == AT_FDCWD) {
            if (!getcwd(base, sizeof base)) return 0;
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", at);
            ssize_t length = readlink(link, base, sizeof base - 1);
            if (length < 0) return 0;
            base[length] = 0;
        }
        snprintf(joined, sizeof joined, "%s/%s", base, path);
    }
    size_t length = strlen(joined);
    while (length > 1 && joined[length - 1] == '/') joined[--length] = 0;
    char *name = strrchr(joined, '/');
    *name++ = 0;
    if (!realpath(joined[0] ? joined : "/", parent)) strcpy(parent, joined);
    snprintf(found, PATH_MAX, "%s/%s", strcmp(parent, "/") ? parent : "", name);
    return is_below(found);
}

/* The same for an open file; pipes, sockets and deleted folders are not below. */
static int locate_open(int fd, char *found) {
    char link[64];
    int before = errno;
    if (!folder_length || fd < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, found, PATH_MAX - 1);
    errno = before;
    if (length < 0) return 0;
    found[length] = 0;
    return is_below(found);
}

static int is_writable(int fd) {
    int before = errno, flags = fcntl(fd, F_GETFL);
    errno = before;
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

/* Counts an operation, logs it, kills before it; returns its number. */
static long count(const char *kind, const char *path) {
    int before = errno;
    long n = atomic_fetch_add(&counted, 1) + 1;
    if (log_to >= 0) {
        char line[PATH_MAX + 64];
        const char *inside = path + folder_length + 1;
        int length = snprintf(line, sizeof line, "%ld\t%s\t%s\n", n, kind, inside);
        syscall(SYS_write, log_to, line, (size_t)length);
    }
    if (kill_before && n == kill_before) die();
    errno = before;
    return n;
}

static void after(long n) {
    if (n && kill_after && n == kill_after) die();
}

static int is_full(void) { return full_from && atomic_load(&counted) >= full_from; }

/* Whether there is room for so many bytes; takes it. */
static int takes(size_t bytes) {
    if (!is_full()) return 1;
    long left = atomic_load(&room);
    while (left >= (long)bytes)
        if (atomic_compare_exchange_weak(&room, &left, left - (long)bytes)) return 1;
    errno = ENOSPC;
    return 0;
}

static int exists(const char *path) {
    struct stat about;
    int before = errno, found = lstat(path, &about) == 0;
    errno = before;
    return found;
}

/* Opening ------------------------------------------------------------------------- */

#define OPEN(name, PARAMETERS, ARGUMENTS, AT, TYPES)                              \
    int name PARAMETERS {                                                         \
        REAL(name, int, TYPES);                                                   \
        char found[PATH_MAX];                                                     \
        mode_t mode = 0;                                                          \
        if (flags & (O_CREAT | O_TMPFILE)) {                                      \
            va_list more;                                                         \
            va_start(more, flags);                                                \
            mode = va_arg(more, mode_t);                                          \
            va_end(more);                                                         \
        }                                                                         \
        int writes = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC); \
        if (!writes || !locate(AT, path, found)) return real ARGUMENTS;           \
        long n = count("open", found);                                            \
        if (is_full() && flags & O_CREAT && !exists(found)) {                     \
            errno = ENOSPC;                                                       \
            return -1;                                                            \
        }                                                                         \
        int result = real ARGUMENTS;                                              \
        after(n);                                                                 \
        return result;                                                            \
    }

#define COMMA ,
OPEN(open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD,
     const char * COMMA int COMMA ...)
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD,
     const char * COMMA int COMMA ...)
OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode), at,
     int COMMA const char * COMMA int COMMA ...)
OPEN(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode),
     at, int COMMA const char * COMMA int COMMA ...)

/* What programs compiled with _FORTIFY_SOURCE call instead. */
int __open_2(const char *path, int flags) { return open(path, flags); }
int __open64_2(const char *path, int flags) { return open64(path, flags); }
int __openat_2(int at, const char *path, int flags) { return openat(at, path, flags); }
int __openat64_2(int at, const char *path, int flags) {
    return openat64(at, path, flags);
}

int creat(const char *path, mode_t mode) {
    return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
int creat64(const char *path, mode_t mode) {
    return open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

#define FOPEN(name)                                                               \
    FILE *name(const char *path, const char *mode) {                              \
        REAL(name, FILE *, const char *, const char *);                           \
        char found[PATH_MAX];                                                     \
        if (!strpbrk(mode, "wa+") || !locate(AT_FDCWD, path, found))              \
            return real(path, mode);                                              \
        long n = count("fopen", found);                                           \
        if (is_full() && !exists(found)) {                                        \
            errno = ENOSPC;                                                       \
            return NULL;                                                          \
        }                                                                         \
        FILE *result = real(path, mode);                                          \
        after(n);                                                                 \
        return result;                                                            \
    }
FOPEN(fopen)
FOPEN(fopen64)

/* Writing ------------------------------------------------------------------------- */

/* An operation on an open file: `needs` bytes of room. */
#define ON_FILE(kind, fd, type, call, needs, failed)                              \
    char found[PATH_MAX];                                                         \
    if (!locate_open(fd, found) || !is_writable(fd)) return call;                 \
    long n = count(kind, found);                                                  \
    if (!takes(needs)) return failed;                                             \
    type result = call;                                                           \
    after(n);                                                                     \
    return result

ssize_t write(int fd, const void *data, size_t size) {
    REAL(write, ssize_t, int, const void *, size_t);
    ON_FILE("write", fd, ssize_t, real(fd, data, size), size, -1);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    REAL(pwrite, ssize_t, int, const void *, size_t, off_t);
    ON_FILE("pwrite", fd, ssize_t, real(fd, data, size, offset), size, -1);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    REAL(pwrite64, ssize_t, int, const void *, size_t, off64_t);
    ON_FILE("pwrite", fd, ssize_t, real(fd, data, size, offset), size, -1);
}

static size_t total(const struct iovec *parts, int many) {
    size_t sum = 0;
    for (int i = 0; i < many; i++) sum += parts[i].iov_len;
    return sum;
}

ssize_t writev(int fd, const struct iovec *parts, int many) {
    REAL(writev, ssize_t, int, const struct iovec *, int);
    ON_FILE("writev", fd, ssize_t, real(fd, parts, many), total(parts, many), -1);
}
ssize_t sendfile(int to, int from, off_t *offset, size_t size) {
    REAL(sendfile, ssize_t, int, int, off_t *, size_t);
    ON_FILE("sendfile", to, ssize_t, real(to, from, offset, size), size, -1);
}
ssize_t sendfile64(int to, int from, off64_t *offset, size_t size) {
    REAL(sendfile64, ssize_t, int, int, off64_t *, size_t);
    ON_FILE("sendfile", to, ssize_t, real(to, from, offset, size), size, -1);
}
ssize_t copy_file_range(int from, off64_t *start, int to, off64_t *where, size_t size,
                        unsigned flags) {
    REAL(copy_file_range, ssize_t, int, off64_t *, int, off64_t *, size_t, unsigned);
    ON_FILE("copy_file_range", to, ssize_t,
            real(from, start, to, where, size, flags), size, -1);
}
int posix_fallocate64(int fd, off64_t offset, off64_t size) {
    REAL(posix_fallocate64, int, int, off64_t, off64_t);
    ON_FILE("fallocate", fd, int, real(fd, offset, size), size, ENOSPC);
}
size_t fwrite(const void *data, size_t size, size_t many, FILE *file) {
    REAL(fwrite, size_t, const void *, size_t, size_t, FILE *);
    int fd = fileno(file);
    ON_FILE("fwrite", fd, size_t, real(data, size, many, file), size * many, 0);
}
int fputs(const char *text, FILE *file) {
    REAL(fputs, int, const char *, FILE *);
    int fd = fileno(file);
    ON_FILE("fputs", fd, int, real(text, file), strlen(text), EOF);
}
int fflush(FILE *file) {
    REAL(fflush, int, FILE *);
    int fd = file ? fileno(file) : -1;
    ON_FILE("fflush", fd, int, real(file), 0, EOF);
}
int fsync(int fd) {
    REAL(fsync, int, int);
    char found[PATH_MAX];
    if (!locate_open(fd, found)) return real(fd); /* of folders, too */
    long n = count("fsync", found);
    int result = real(fd);
    after(n);
    return result;
}
int fdatasync(int fd) {
    REAL(fdatasync, int, int);
    char found[PATH_MAX];
    if (!locate_open(fd, found)) return real(fd);
    long n = count("fsync", found);
    int result = real(fd);
    after(n);
    return result;
}
int close(int fd) {
    REAL(close, int, int);
    ON_FILE("close", fd, int, real(fd), 0, -1);
}
int fclose(FILE *file) {
    REAL(fclose, int, FILE *);
    int fd = file ? fileno(file) : -1;
    ON_FILE("fclose", fd, int, real(file), 0, EOF);
}

/* Truncation gives room back to what is written next. */
static void gives(long before, long size) {
    if (is_full() && before > size) atomic_fetch_add(&room, before - size);
}

#define TRUNCATE(name, type, first, find, look)                                   \
    int name(type first, off_t size) {                                            \
        REAL(name, int, type, off_t);                                             \
        char found[PATH_MAX];                                                     \
        struct stat about;                                                        \
        if (!find) return real(first, size);                                      \
        long n = count("truncate", found);                                        \
        long before = look == 0 ? (long)about.st_size : 0;                        \
        int result = real(first, size);                                           \
        if (result == 0) gives(before, size);                                     \
        after(n);                                                                 \
        return result;                                                            \
    }
TRUNCATE(ftruncate, int, fd, locate_open(fd, found), fstat(fd, &about))
TRUNCATE(ftruncate64, int, fd, locate_open(fd, found), fstat(fd, &about))
TRUNCATE(truncate, const char *, path, locate(AT_FDCWD, path, found),
         stat(path, &about))
TRUNCATE(truncate64, const char *, path, locate(AT_FDCWD, path, found),
         stat(path, &about))

/* Names --------------------------------------------------------------------------- */

/* An operation on a name; `grows`: a full disk has no room for it. */
#define ON_NAME(kind, at, path, call, grows)                                      \
    char found[PATH_MAX];                                                         \
    if (!locate(at, path, found)) return call;                                    \
    long n = count(kind, found);                                                  \
    if (grows && is_full() && !exists(found)) {                                   \
        errno = ENOSPC;                                                           \
        return -1;                                                                \
    }                                                                             \
    int result = call;                                                            \
    after(n);                                                                     \
    return result

int rename(const char *old, const char *new) {
    REAL(rename, int, const char *, const char *);
    ON_NAME("rename", AT_FDCWD, new, real(old, new), 0);
}
int renameat(int old_at, const char *old, int at, const char *new) {
    REAL(renameat, int, int, const char *, int, const char *);
    ON_NAME("rename", at, new, real(old_at, old, at, new), 0);
}
int renameat2(int old_at, const char *old, int at, const char *new, unsigned flags) {
    REAL(renameat2, int, int, const char *, int, const char *, unsigned);
    ON_NAME("rename", at, new, real(old_at, old, at, new, flags), 0);
}
int unlink(const char *path) {
    REAL(unlink, int, const char *);
    ON_NAME("unlink", AT_FDCWD, path, real(path), 0);
}
int unlinkat(int at, const char *path, int flags) {
    REAL(unlinkat, int, int, const char *, int);
    ON_NAME(flags & AT_REMOVEDIR ? "rmdir" : "unlink", at, path,
            real(at, path, flags), 0);
}
int remove(const char *path) {
    REAL(remove, int, const char *);
    ON_NAME("unlink", AT_FDCWD, path, real(path), 0);
}
int rmdir(const char *path) {
    REAL(rmdir, int, const char *);
    ON_NAME("rmdir", AT_FDCWD, path, real(path), 0);
}
int mkdir(const char *path, mode_t mode) {
    REAL(mkdir, int, const char *, mode_t);
    ON_NAME("mkdir", AT_FDCWD, path, real(path, mode), 1);
}
int mkdirat(int at, const char *path, mode_t mode) {
    REAL(mkdirat, int, int, const char *, mode_t);
    ON_NAME("mkdir", at, path, real(at, path, mode), 1);
}
int link(const char *old, const char *new) {
    REAL(link, int, const char *, const char *);
    ON_NAME("link", AT_FDCWD, new, real(old, new), 1);
}
int linkat(int old_at, const char *old, int at, const char *new, int flags) {
    REAL(linkat, int, int, const char *, int, const char *, int);
    ON_NAME("link", at, new, real(old_at, old, at, new, flags), 1);
}
int symlink(const char *old, const char *new) {
    REAL(symlink, int, const char *, const char *);
    ON_NAME("symlink", AT_FDCWD, new, real(old, new), 1);
}
int symlinkat(const char *old, int at, const char *new) {
    REAL(symlinkat, int, const char *, int, const char *);
    ON_NAME("symlink", at, new, real(old, at, new), 1);
}
int chmod(const char *path, mode_t mode) {
    REAL(chmod, int, const char *, mode_t);
    ON_NAME("chmod", AT_FDCWD, path, real(path, mode), 0);
}

/* How much room there is ---------------------------------------------------------- */

/* The folder itself counts: that is where programs ask. */
static int asks(const char *path) {
    char found[PATH_MAX];
    return is_full() && path && realpath(path, found) &&
           (is_below(found) || !strcmp(found, folder));
}
static int asks_open(int fd) {
    char found[PATH_MAX];
    return is_full() && (locate_open(fd, found) || !strcmp(found, folder));
}

#define ROOM(name, kind, type, first, asked, unit)                                \
    int name(type first, struct kind *about) {                                    \
        REAL(name, int, type, struct kind *);                                     \
        int result = real(first, about);                                          \
        if (result == 0 && asked(first)) {                                        \
            long blocks = atomic_load(&room) / (long)(about->unit ?: 1);          \
            about->f_bfree = about->f_bavail = blocks;                            \
        }                                                                         \
        return result;                                                            \
    }
ROOM(statvfs, statvfs, const char *, path, asks, f_frsize)
ROOM(statvfs64, statvfs64, const char *, path, asks, f_frsize)
ROOM(fstatvfs, statvfs, int, fd, asks_open, f_frsize)
ROOM(fstatvfs64, statvfs64, int, fd, asks_open, f_frsize)
ROOM(statfs, statfs, const char *, path, asks, f_bsize)
ROOM(statfs64, statfs64, const char *, path, asks, f_bsize)
ROOM(fstatfs, statfs, int, fd, asks_open, f_bsize)
ROOM(fstatfs64, statfs64, int, fd, asks_open, f_bsize)
