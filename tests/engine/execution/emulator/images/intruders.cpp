// Kernels that want out.
#undef printf

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

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
    }
}
