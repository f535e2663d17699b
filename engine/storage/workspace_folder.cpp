#include "engine/storage/workspace_folder.h"

#include "engine/storage/cache_files.h"

#include <system_error>

namespace kernelskill::engine {

namespace {

constexpr const char* ignored =
    "# Written by KernelSkill: what was tried and seen on this machine.\n"
    "# Skills and programs that you write into this folder are yours to commit.\n"
    "/.gitignore\n"
    "/captures/\n"
    "/memory/\n"
    "/picked-program\n";

} // namespace

void ignoreInGit(const std::filesystem::path& folder) {
    const auto file = folder / ".gitignore";
    std::error_code failure;
    if (!std::filesystem::exists(file, failure) && !failure)
        writeWhole(file, ignored);
}

} // namespace kernelskill::engine
