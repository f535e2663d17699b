#include "engine/process/error_json.h"

#include "analysis/source/json.h"

#include <cstdint>

namespace kernelskill::engine::wire {

nlohmann::json toJson(const Error& error) {
    return {{"kind", static_cast<std::uint64_t>(error.kind)},
            {"what", error.what},
            {"where", error.where},
            {"remedy", error.remedy}};
}

void fromJson(const nlohmann::json& json, Error& error) {
    error.kind = static_cast<ErrorKind>(json.at("kind").get<std::uint64_t>());
    json.at("what").get_to(error.what);
    json.at("where").get_to(error.where);
    json.at("remedy").get_to(error.remedy);
}

} // namespace kernelskill::engine::wire
