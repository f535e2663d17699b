// Kernels that want out.
#undef printf

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

/// The pipe that the report goes to; -1 if there is none.
int reportDescriptor() {
    for (int descriptor = 0; descriptor < 64; ++descriptor) {
        struct stat status;
        if (syscall(SYS_fstat, descriptor, &status) == 0 && S_ISFIFO(status.st_mode))
            return descriptor;
    }
    return -1;
}

} // namespace

extern "C" void ks_entry(void** a) {
    int* out = *(int**)a[1];
    switch (*static_cast<int*>(a[0])) {
    case 0:
        out[0] = open("/etc/passwd", O_RDONLY);
        return;
    case 1:
        out[0] = socket(AF_INET, SOCK_STREAM, 0);
        return;
    case 2:
        out[0] = fork();
        return;
    case 3: {
        char* arguments[] = {nullptr};
        out[0] = execve("/bin/sh", arguments, arguments);
        return;
    }
    case 4:
        out[0] = kill(1 << 22, 0);
        return;
    case 5:
        out[0] = write(1, "forged", 6);
        return;
    case 6:
        out[0] = open("/tmp/kernelskill-was-here", O_WRONLY | O_CREAT, 0600);
        return;
    case 7:
        out[0] = getenv("PATH") == nullptr && getenv("HOME") == nullptr;
        return;
    case 8:
        __builtin_trap();
    case 9:
        abort();
    case 10: { // A frame of 8 GiB, and more.
        static unsigned long long page[8192] = {1ull << 33};
        for (const int report = reportDescriptor();; page[0] = 0)
            write(report, page, sizeof page);
    }
    case 11: { // An empty frame, and more.
        static unsigned long long page[8192];
        for (const int report = reportDescriptor();;)
            write(report, page, sizeof page);
    }
    }
}
