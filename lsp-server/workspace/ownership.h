/// Whether files that say how code is compiled and edited are the user's own. In a folder of
/// somebody else, as below /tmp or on a shared disk, they could say anything.
#pragma once

#include <filesystem>

namespace kernelskill::lsp {

/// Whether `path` and the folder that it is in belong to the user (who may have become root by
/// sudo) or to root, or the user trusts the folder. False if it does not exist.
[[nodiscard]] bool isOwn(const std::filesystem::path& path);

} // namespace kernelskill::lsp
