/// JSON as editors' files have it: with comments and commas behind last elements.
#pragma once

#include "analysis/source/error.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// The same text with comments and such commas replaced by blanks, so that places stay.
[[nodiscard]] std::string plainJson(std::string_view text);

/// The document of a file. InvalidInput if it cannot be read, is nested too deeply or is no such
/// JSON.
[[nodiscard]] Result<nlohmann::json> readJsonWithComments(const std::filesystem::path& file);

/// The text of a key; empty if it is absent or no text, or `object` is no object.
[[nodiscard]] std::string textOfKey(const nlohmann::json& object, const char* key);

} // namespace kernelskill::engine
