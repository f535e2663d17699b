#include "engine/execution/emulator/worker/fault_handlers.h"

#include "engine/execution/emulator/worker/address_space.h"
#include "engine/execution/emulator/worker/hook_state.h"
#include "engine/execution/emulator/worker/launch.h"
#include "engine/execution/emulator/worker/sandbox.h"
#include "engine/execution/integer_division.h"

#include <spdlog/fmt/fmt.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

namespace kernelskill::engine::emulator {

namespace {

constexpr std::size_t handlerStackBytes = 512 << 10;
constexpr std::chrono::milliseconds retry{20};
/// The number of timer expiries outside the kernel's code after which the run is ended anywhere.
constexpr int patience = 50;

/// Global, because handlers have no argument for it.
constinit FaultContext faults;

std::uint64_t instructionPointer(const void* context) {
    const auto* machine = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
    return static_cast<std::uint64_t>(machine->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return machine->uc_mcontext.pc;
#endif
}

void setResult(void* context, long value) {
    auto* machine = static_cast<ucontext_t*>(context);
#if defined(__x86_64__)
    machine->uc_mcontext.gregs[REG_RAX] = value;
#elif defined(__aarch64__)
    machine->uc_mcontext.regs[0] = static_cast<unsigned long long>(value);
#endif
}

/// The site of the faulting instruction if it is in the kernel, else that of the last access.
Site siteOf(const void* context) {
    const Launch* launch = hookState.launch;
    const std::uint64_t address = instructionPointer(context);
    if (launch == nullptr)
        return 0;
    return launch->image().contains(address) ? address - launch->image().base()
                                             : launch->lastSite();
}

[[noreturn]] void end(ErrorKind kind, const std::string& what, const std::string& remedy,
                      Site site) {
    WorkerFailure failure{kind, what, "", remedy, site};
    if (hookState.launch != nullptr)
        hookState.launch->fail(std::move(failure));
    WorkerReport report;
    report.failure = std::move(failure);
    faults.channel->finish(report);
}

std::string whoRuns() {
    return hookState.launch != nullptr && hookState.launch->running()
               ? hookState.launch->runningThread()
               : std::string("the static initialisation of the image");
}

void onSegmentationFault(int /*signal*/, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
    Launch* const launch = hookState.launch;
    if (launch != nullptr) {
        switch (launch->memory().provide(address)) {
        case DeviceMemory::Fault::Provided:
            return;
        case DeviceMemory::Fault::OverBudget:
            end(ErrorKind::Failed,
                fmt::format("the run touches more than {} MiB of its buffers",
                            launch->job().limits.memoryBytes >> 20),
                "launch a smaller problem, or give the sizes of the buffers in a "
                "`// kernelskill: launch` comment",
                siteOf(context));
        case DeviceMemory::Fault::NotOurs:
            break;
        }
        if (launch->stacks().isGuard(address)) {
            end(ErrorKind::Failed,
                fmt::format("{} needs more than {} KiB of local memory", whoRuns(),
                            FiberStacks::stackBytes >> 10),
                "move large arrays out of the thread, or look for endless recursion",
                siteOf(context));
        }
    }
    end(ErrorKind::Failed,
        fmt::format("{} accessed address 0x{:x}, which is in no buffer", whoRuns(), address),
        "check the pointers and indices on that line", siteOf(context));
}

void onCrash(int signal, siginfo_t* /*info*/, void* context) {
    std::string what;
    switch (signal) {
    case SIGFPE:
        what = integerDivisionByZero;
        break;
    case SIGILL:
    case SIGTRAP:
        what = "reached code marked as unreachable, or trapped";
        break;
    case SIGABRT:
        what = "aborted";
        break;
    default:
        what = fmt::format("ended by signal {}", signal);
        break;
    }
    end(ErrorKind::Failed, fmt::format("{} {}", whoRuns(), what), "", siteOf(context));
}

void onRefusedCall(int /*signal*/, siginfo_t* info, void* context) {
    // The loader opens the image by its path and calls stat on it.
    const auto* machine = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
    const auto path = static_cast<std::uint64_t>(machine->uc_mcontext.gregs[REG_RSI]);
    const auto first = static_cast<int>(machine->uc_mcontext.gregs[REG_RDI]);
    const auto buffer = static_cast<std::uint64_t>(machine->uc_mcontext.gregs[REG_RDX]);
#elif defined(__aarch64__)
    const auto path = machine->uc_mcontext.regs[1];
    const auto first = static_cast<int>(machine->uc_mcontext.regs[0]);
    const auto buffer = machine->uc_mcontext.regs[2];
#endif
    // NOLINTBEGIN(performance-no-int-to-ptr)
    if (hookState.launch == nullptr && info->si_syscall == SYS_openat &&
        *faults.imagePath == reinterpret_cast<const char*>(path)) {
        setResult(context, dup(faults.imageDescriptor));
        return;
    }
    if (hookState.launch == nullptr && info->si_syscall == SYS_newfstatat && first >= 0 &&
        *reinterpret_cast<const char*>(path) == '\0') {
        setResult(context,
                  syscall(SYS_fstat, first, reinterpret_cast<void*>(buffer)) == 0 ? 0 : -errno);
        return;
    }
    // NOLINTEND(performance-no-int-to-ptr)
    end(ErrorKind::Unsupported,
        fmt::format("{} called {}(), which the sandbox refuses", whoRuns(),
                    systemCallName(info->si_syscall)),
        "a kernel may not use files, sockets or processes", siteOf(context));
}

void onTimer(int /*signal*/, siginfo_t* /*info*/, void* context) {
    static constinit int expiries = 0;
    Launch* const launch = hookState.launch;
    // Between two instructions of the kernel all our data are consistent. Elsewhere the flag is
    // checked soon.
    const bool safe = launch != nullptr && launch->image().contains(instructionPointer(context));
    if (launch != nullptr)
        launch->timeIsUp();
    if (!safe && ++expiries < patience)
        return;
    if (launch != nullptr) {
        // The last event is on a line of the user's; the instruction may be in the prelude.
        const Site last = launch->running() ? launch->lastSite() : 0;
        launch->cutOff(
            fmt::format("cut off after {} ms of processor time", launch->job().limits.time.count()),
            last, siteOf(context));
    }
    end(ErrorKind::Failed, "the static initialisation of the image does not end", "", 0);
}

} // namespace

Result<void> installFaultHandlers(const FaultContext& context, std::chrono::milliseconds time) {
    faults = context;
    const auto failure = [] {
        return std::unexpected(Error{ErrorKind::Internal,
                                     fmt::format("cannot handle signals: {}", strerror(errno)),
                                     "emulator worker", ""});
    };
    void* const memory = mmap(nullptr, handlerStackBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return failure();
    stack_t stack{};
    stack.ss_sp = memory;
    stack.ss_size = handlerStackBytes;
    if (sigaltstack(&stack, nullptr) != 0)
        return failure();
    const auto handle = [](int signal, void (*handler)(int, siginfo_t*, void*)) {
        struct sigaction action{};
        action.sa_sigaction = handler;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        sigaddset(&action.sa_mask, SIGPROF);
        return sigaction(signal, &action, nullptr) == 0;
    };
    bool handled = handle(SIGSEGV, onSegmentationFault) && handle(SIGBUS, onSegmentationFault) &&
                   handle(SIGSYS, onRefusedCall) && handle(SIGPROF, onTimer);
    for (const int signal : {SIGFPE, SIGILL, SIGTRAP, SIGABRT})
        handled &= handle(signal, onCrash);
    const auto part = [](std::chrono::milliseconds duration) {
        return timeval{.tv_sec = duration.count() / 1000,
                       .tv_usec = duration.count() % 1000 * 1000};
    };
    const itimerval timer{.it_interval = part(retry), .it_value = part(time)};
    // Measures processor time, because on a busy machine a slow kernel is not one that hangs.
    if (!handled || setitimer(ITIMER_PROF, &timer, nullptr) != 0)
        return failure();
    return {};
}

} // namespace kernelskill::engine::emulator
