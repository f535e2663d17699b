#include "lsp-server/workspace/ownership.h"

#include "lsp-server/workspace/trusted_folders.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace kernelskill::lsp {

namespace {

bool isTheUsers(uid_t owner) {
    if (owner == ::geteuid() || owner == 0)
        return true;
    const char* before = std::getenv("SUDO_UID");
    if (before == nullptr || ::geteuid() != 0)
        return false;
    uid_t user = 0;
    const auto [end, error] = std::from_chars(before, before + std::strlen(before), user);
    return error == std::errc{} && *end == '\0' && owner == user;
}

bool hasOwnerOfOurs(const std::filesystem::path& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 && isTheUsers(status.st_uid);
}

} // namespace

bool isOwn(const std::filesystem::path& path) {
    if (hasOwnerOfOurs(path) && hasOwnerOfOurs(path.parent_path()))
        return true;
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) && TrustedFolders().hold(path.parent_path());
}

} // namespace kernelskill::lsp
