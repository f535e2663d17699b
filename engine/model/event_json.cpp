#include "engine/model/event_json.h"

#include "analysis/source/json.h"

namespace kernelskill::engine {

using nlohmann::json;

json valueAt(const json& root, const char* pointer) {
    const json::json_pointer path(pointer);
    return root.contains(path) ? root.at(path) : json();
}

std::string textAt(const json& root, const char* pointer) {
    const json value = valueAt(root, pointer);
    return value.is_string() ? value.get<std::string>() : std::string();
}

std::uint64_t countAt(const json& root, const char* pointer) {
    const json value = valueAt(root, pointer);
    return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

} // namespace kernelskill::engine
