/// Lines of JSON behind a head that names their kind and version: files that a recorder writes in
/// the user's program, whole lines at a time.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Returns one line with its line end.
[[nodiscard]] std::string jsonLine(const nlohmann::json& json);

/// Returns the first line of a file.
[[nodiscard]] std::string jsonLinesHead(std::string_view kind, int version);

/// Passes each line behind the head to `take`, which returns whether it may be such a line, or
/// throws json::exception. Ignores an incomplete last line. Returns false, perhaps behind some
/// lines, for a text of another kind or version and for a line that cannot be read.
[[nodiscard]] bool readJsonLines(std::string_view text, std::string_view kind, int version,
                                 const std::function<bool(const nlohmann::json& line)>& take);

} // namespace kernelskill::engine
