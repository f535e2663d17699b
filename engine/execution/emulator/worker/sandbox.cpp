#include "engine/execution/emulator/worker/sandbox.h"

#include <seccomp.h>
#include <spdlog/fmt/fmt.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <linux/close_range.h>
#include <memory>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace kernelskill::engine::emulator {

namespace {

/// System calls without restricted arguments: they affect only this process.
constexpr int allowedCalls[] = {
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    SCMP_SYS(futex),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(sched_yield),
    SCMP_SYS(getrandom),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(clock_nanosleep),
};

Error systemError(const char* what) {
    return {ErrorKind::Missing,
            fmt::format("cannot set up the sandbox: {}: {}", what, strerror(errno)),
            "emulator worker", "run on a Linux kernel with seccomp filters"};
}

bool limit(__rlimit_resource resource, rlim_t value) {
    rlimit current{};
    if (getrlimit(resource, &current) != 0)
        return false;
    const rlim_t lowered = std::min(value, current.rlim_max);
    const rlimit wanted{lowered, lowered};
    return setrlimit(resource, &wanted) == 0;
}

/// The writable private memory of this process, in bytes.
std::uint64_t mappedData() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t pages = 0;
    for (int field = 0; field < 6; ++field)
        file >> pages;
    return file ? pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

/// Discards the kernel's own output: standard streams become the null device, and only two other
/// descriptors stay open.
bool closeDescriptors(int report, int image) {
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return false;
    for (int stream = 0; stream < 3; ++stream) {
        if (dup2(null, stream) < 0)
            return false;
    }
    const int low = std::min(report, image);
    const int high = std::max(report, image);
    const auto close = [](int from, int to) {
        return from > to ||
               close_range(static_cast<unsigned>(from), static_cast<unsigned>(to), 0) == 0;
    };
    return close(3, low - 1) && close(low + 1, high - 1) &&
           close_range(static_cast<unsigned>(high + 1), ~0u, 0) == 0;
}

Result<void> installFilter(int report, int image) {
    const std::unique_ptr<void, decltype(&seccomp_release)> filter{seccomp_init(SCMP_ACT_TRAP),
                                                                   &seccomp_release};
    if (!filter)
        return std::unexpected(systemError("seccomp_init"));
    int status = 0;
    for (const int call : allowedCalls)
        status |= seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
    const auto only = [&](int call, int descriptor) {
        status |= seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 1,
                                   SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(descriptor)));
    };
    only(SCMP_SYS(write), report);
    // The loader opens the image through the handler of SIGSYS, which returns this descriptor. Its
    // further calls are harmless on any open file.
    only(SCMP_SYS(dup), image);
    for (const int call : {SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(fstat), SCMP_SYS(close)})
        status |= seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
    // abort() ends the process by a signal to itself.
    status |= seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                               SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(getpid())));
    if (status != 0 || seccomp_load(filter.get()) != 0)
        return std::unexpected(systemError("seccomp_load"));
    return {};
}

} // namespace

Result<void> enterSandbox(int reportDescriptor, int imageDescriptor, const SandboxLimits& limits) {
    if (!closeDescriptors(reportDescriptor, imageDescriptor))
        return std::unexpected(systemError("descriptors"));
    clearenv();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return std::unexpected(systemError("prctl"));
    const auto cpu = static_cast<rlim_t>(limits.cpuTime.count());
    const auto descriptors = static_cast<rlim_t>(std::max(reportDescriptor, imageDescriptor)) + 4;
    if (!limit(RLIMIT_CORE, 0) || !limit(RLIMIT_FSIZE, 0) || !limit(RLIMIT_NPROC, 0) ||
        !limit(RLIMIT_NOFILE, descriptors) || !limit(RLIMIT_CPU, cpu) ||
        !limit(RLIMIT_DATA, mappedData() + limits.dataBytes))
        return std::unexpected(systemError("setrlimit"));
    return installFilter(reportDescriptor, imageDescriptor);
}

std::string systemCallName(int number) {
    const std::unique_ptr<char, decltype(&std::free)> name{
        seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number), &std::free};
    return name ? std::string(name.get()) : fmt::format("system call {}", number);
}

} // namespace kernelskill::engine::emulator
