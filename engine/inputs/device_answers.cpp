#include "engine/inputs/device_answers.h"

#include <algorithm>
#include <array>

namespace kernelskill::engine {
namespace {

struct DeviceNumber {
    std::string_view property;  ///< A member of cudaDeviceProp.
    std::string_view attribute; ///< A cudaDeviceAttr.
    std::int64_t value;
};
constexpr std::array deviceNumbers = {
    DeviceNumber{"multiProcessorCount", "cudaDevAttrMultiProcessorCount", 8},
    DeviceNumber{"maxThreadsPerBlock", "cudaDevAttrMaxThreadsPerBlock", 1024},
    DeviceNumber{"warpSize", "cudaDevAttrWarpSize", 32},
    DeviceNumber{"sharedMemPerBlock", "cudaDevAttrMaxSharedMemoryPerBlock", 49152},
    DeviceNumber{"maxThreadsPerMultiProcessor", "cudaDevAttrMaxThreadsPerMultiProcessor", 2048},
    DeviceNumber{"sharedMemPerBlockOptin", "cudaDevAttrMaxSharedMemoryPerBlockOptin", 232448}};
/// The answer of cudaOccupancyMaxActiveBlocksPerMultiprocessor about any kernel.
constexpr std::int64_t residentBlocks = 2;

std::optional<std::int64_t> numberOf(std::string_view name,
                                     std::string_view DeviceNumber::* column) {
    const auto found = std::ranges::find(deviceNumbers, name, column);
    return found == deviceNumbers.end() ? std::nullopt : std::optional(found->value);
}

} // namespace

std::optional<std::int64_t> deviceProperty(std::string_view member) {
    return numberOf(member, &DeviceNumber::property);
}

std::optional<std::int64_t> deviceAnswer(const ProgramText& program, TextPlace place,
                                         const std::string& variable) {
    if (place.function == nullptr)
        return std::nullopt;
    const ProgramText::File& file = program.files()[place.file];
    const auto& tokens = file.tokens;
    const auto& places = file.tokensNamed(variable);
    for (auto at = std::ranges::lower_bound(places, place.token); at != places.begin();) {
        const std::size_t i = *--at;
        if (i < place.function->bodyBegin + 3)
            break;
        const bool isAnswer = tokens[i - 1].is("&") && tokens[i - 2].is("(") &&
                              i + 1 < tokens.size() && tokens[i + 1].is(",");
        if (!isAnswer)
            continue;
        const std::string_view function = tokens[i - 3].text;
        if (function.starts_with("cudaOccupancyMaxActiveBlocksPerMultiprocessor"))
            return residentBlocks;
        if (function != "cudaDeviceGetAttribute")
            continue;
        std::size_t end = i + 2;
        while (end < tokens.size() && !tokens[end].is(",") && !tokens[end].is(";"))
            ++end;
        return numberOf(tokens[end - 1].text, &DeviceNumber::attribute);
    }
    return std::nullopt;
}

} // namespace kernelskill::engine
