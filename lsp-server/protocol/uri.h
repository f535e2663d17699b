/// `file:` URIs and the paths they name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// The path of a `file:` URI, percent escapes decoded, normalised lexically; nullopt for other
/// schemes.
[[nodiscard]] std::optional<std::filesystem::path> pathFromUri(std::string_view uri);
/// The URI of an absolute path.
[[nodiscard]] std::string uriFromPath(const std::filesystem::path& path);

} // namespace kernelskill::lsp
