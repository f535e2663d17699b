/// JSON Schemas of the tools' arguments and results, and the check of arguments against them.
#pragma once

#include "analysis/source/json.h"

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// A value of that type: "string", "object".
[[nodiscard]] nlohmann::json plainSchema(std::string type);
[[nodiscard]] inline nlohmann::json objectSchema() {
    return plainSchema("object");
}
[[nodiscard]] nlohmann::json textSchema(std::string description);
[[nodiscard]] nlohmann::json flagSchema(std::string description);
/// An integer from `least` to `most`.
[[nodiscard]] nlohmann::json numberSchema(std::string description, int least, int most);
/// One of `words`.
[[nodiscard]] nlohmann::json choiceSchema(std::string description, std::vector<std::string> words);
[[nodiscard]] nlohmann::json listSchema(nlohmann::json items);
/// Arguments: nothing but `properties`.
[[nodiscard]] nlohmann::json argumentsSchema(nlohmann::json properties,
                                             std::vector<std::string> required);
/// A result: `properties`, of which all are there, and maybe more.
[[nodiscard]] nlohmann::json resultSchema(nlohmann::json properties);

/// Says what is wrong with `arguments`, in one sentence without a full stop; empty if they fit a
/// schema of argumentsSchema().
[[nodiscard]] std::string misfitOf(const nlohmann::json& schema, const nlohmann::json& arguments);

} // namespace kernelskill::lsp
