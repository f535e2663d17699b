#include "engine/process/walls.h"

#include <seccomp.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <memory>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

// Of Landlock's third version, and the sixth; older headers lack their names.
constexpr std::uint64_t accessTruncate = 1ULL << 14;
constexpr std::uint64_t scopeAbstractSocket = 1ULL << 0;
constexpr std::uint64_t scopeSignal = 1ULL << 1;

constexpr std::uint64_t readAccess =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t writeAccess =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_WRITE_FILE |
    LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
    LANDLOCK_ACCESS_FS_MAKE_REG | accessTruncate;
constexpr std::uint64_t fileAccess = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                                     LANDLOCK_ACCESS_FS_WRITE_FILE | accessTruncate;
/// All that Landlock's first version knows.
constexpr std::uint64_t firstAccess = (1ULL << 13) - 1;

/// landlock_ruleset_attr as the sixth version has it.
struct RulesetAttributes {
    std::uint64_t files = 0;
    std::uint64_t network = 0;
    std::uint64_t scopes = 0;
};

int landlockVersion() {
    const long version =
        ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return static_cast<int>(std::max(version, 0L));
}

std::uint64_t handledFiles(int version) {
    return firstAccess | (version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) |
           (version >= 3 ? accessTruncate : 0);
}

void allow(int ruleset, const fs::path& path, std::uint64_t access) {
    const FileDescriptor file{::open(path.c_str(), O_PATH | O_CLOEXEC)};
    struct stat status{};
    if (!file.isOpen() || ::fstat(file.get(), &status) != 0)
        return; // What is not there need not be allowed.
    landlock_path_beneath_attr rule{};
    rule.allowed_access = S_ISDIR(status.st_mode) ? access : access & fileAccess;
    rule.parent_fd = file.get();
    ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

FileDescriptor makeRuleset(const Walls& walls) {
    const int version = landlockVersion();
    if (version < 1)
        return {};
    RulesetAttributes attributes;
    attributes.files = handledFiles(version);
    if (version >= 6)
        attributes.scopes = scopeAbstractSocket | scopeSignal;
    const std::size_t size = version >= 6   ? sizeof attributes
                             : version >= 4 ? 2 * sizeof(std::uint64_t)
                                            : sizeof(std::uint64_t);
    FileDescriptor ruleset{
        static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0))};
    if (!ruleset.isOpen())
        return ruleset;
    for (const fs::path& path : walls.readable)
        allow(ruleset.get(), path, readAccess & attributes.files);
    for (const fs::path& path : walls.writable)
        allow(ruleset.get(), path, (writeAccess | LANDLOCK_ACCESS_FS_REFER) & attributes.files);
    allow(ruleset.get(), "/dev/null", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
    return ruleset;
}

/// Calls that no compiler needs: network, other processes, the system's state, and interfaces of
/// the kernel that have been ways out.
constexpr int refusedCalls[] = {
    SCMP_SYS(socket),
    SCMP_SYS(socketpair),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(kcmp),
    SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(pidfd_send_signal),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(move_mount),
    SCMP_SYS(open_tree),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsmount),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(name_to_handle_at),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(quotactl),
    SCMP_SYS(acct),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(syslog),
    SCMP_SYS(mknod),
    SCMP_SYS(mknodat),
    SCMP_SYS(setuid),
    SCMP_SYS(setgid),
};

/// Empty if the filter cannot be made.
std::vector<sock_filter> makeFilter() {
    constexpr std::uint32_t refusal = SCMP_ACT_ERRNO(1); // EPERM
    const std::unique_ptr<void, decltype(&seccomp_release)> filter{seccomp_init(SCMP_ACT_ALLOW),
                                                                   &seccomp_release};
    if (!filter)
        return {};
    for (const int call : refusedCalls) {
        // Calls that this processor's kernel does not have cannot be made.
        if (call >= 0 && seccomp_rule_add(filter.get(), refusal, call, 0) != 0)
            return {};
    }
    const FileDescriptor file{::memfd_create("kernelskill-filter", MFD_CLOEXEC)};
    if (!file.isOpen() || seccomp_export_bpf(filter.get(), file.get()) != 0)
        return {};
    const off_t bytes = ::lseek(file.get(), 0, SEEK_END);
    std::vector<sock_filter> program(static_cast<std::size_t>(std::max<off_t>(bytes, 0)) /
                                     sizeof(sock_filter));
    const auto wanted = static_cast<ssize_t>(program.size() * sizeof(sock_filter));
    if (program.empty() ||
        ::pread(file.get(), program.data(), program.size() * sizeof(sock_filter), 0) != wanted)
        return {};
    return program;
}

fs::path canonicalOr(const fs::path& path) {
    std::error_code error;
    auto result = fs::canonical(path, error);
    return error ? path : result;
}

bool isHomeOrAbove(const fs::path& folder) {
    const char* home = std::getenv("HOME");
    if (folder == folder.root_path())
        return true;
    if (home == nullptr || *home == '\0')
        return false;
    const auto path = canonicalOr(home);
    return std::ranges::mismatch(folder, path).in1 == folder.end();
}

} // namespace

std::vector<fs::path> systemFolders() {
    return {"/usr",
            "/lib",
            "/lib64",
            "/lib32",
            "/bin",
            "/sbin",
            "/etc/ld.so.cache",
            "/etc/ld.so.preload",
            "/etc/alternatives",
            "/nix/store",
            "/gnu/store",
            "/proc/meminfo",
            "/sys/devices/system/cpu"};
}

std::vector<fs::path> installationOf(const fs::path& program) {
    std::vector<fs::path> result;
    for (const fs::path& file : {program, canonicalOr(program)}) {
        const auto folder = file.parent_path().parent_path();
        const bool isWhole = file.parent_path().filename() == "bin" && !isHomeOrAbove(folder);
        result.push_back(isWhole ? folder : file);
    }
    return result;
}

std::vector<fs::path> withoutPrivate(std::vector<fs::path> folders) {
    constexpr std::array<std::string_view, 8> installations = {
        ".local", ".conda", ".pixi", ".venv", ".pyenv", ".nix-profile", ".spack", ".cache"};
    const char* variable = std::getenv("HOME");
    const fs::path home = canonicalOr(variable == nullptr ? "" : variable);
    std::erase_if(folders, [&](const fs::path& folder) {
        const fs::path path = canonicalOr(folder);
        if (isHomeOrAbove(path))
            return true;
        const auto inHome = path.lexically_relative(home);
        if (home.empty() || inHome.empty() || *inHome.begin() == "..")
            return false;
        const std::string first = inHome.begin()->string();
        return first.starts_with('.') &&
               std::ranges::find(installations, first) == installations.end();
    });
    return folders;
}

WallsOnOffer wallsOnOffer() {
    const std::uint32_t action = SECCOMP_RET_ERRNO;
    return {landlockVersion(), ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0};
}

PreparedWalls::PreparedWalls(const Walls& walls) : ruleset_(makeRuleset(walls)) {
    if (wallsOnOffer().seccomp)
        filter_ = makeFilter();
    const auto limit = [this](auto resource, std::uint64_t value) {
        rlimit current{};
        if (value == 0 || ::getrlimit(resource, &current) != 0)
            return;
        const rlim_t lowered = std::min<rlim_t>(value, current.rlim_max);
        limits_.emplace_back(static_cast<int>(resource), rlimit{lowered, lowered});
    };
    limit(RLIMIT_AS, walls.memoryBytes);
    limit(RLIMIT_FSIZE, walls.fileBytes);
    limit(RLIMIT_CPU, static_cast<std::uint64_t>(walls.cpuTime.count()));
    limits_.emplace_back(static_cast<int>(RLIMIT_CORE), rlimit{0, 0});
}

bool PreparedWalls::putUp() const {
    for (const auto& [resource, value] : limits_) {
        if (::setrlimit(static_cast<__rlimit_resource>(resource), &value) != 0)
            return false;
    }
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    if (ruleset_.isOpen() && ::syscall(SYS_landlock_restrict_self, ruleset_.get(), 0) != 0)
        return false;
    if (filter_.empty())
        return true;
    const sock_fprog program{static_cast<unsigned short>(filter_.size()),
                             const_cast<sock_filter*>(filter_.data())};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

} // namespace kernelskill::engine
