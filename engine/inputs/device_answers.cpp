#include "engine/inputs/device_answers.h"

#include <algorithm>
#include <array>

namespace kernelskill::engine {
namespace {

struct DeviceNumber {
    std::string_view name;
    std::int64_t value;
};
constexpr std::array properties = {DeviceNumber{"multiProcessorCount", 8},
                                   DeviceNumber{"maxThreadsPerBlock", 1024},
                                   DeviceNumber{"warpSize", 32},
                                   DeviceNumber{"sharedMemPerBlock", 49152},
                                   DeviceNumber{"maxThreadsPerMultiProcessor", 2048},
                                   DeviceNumber{"sharedMemPerBlockOptin", 232448}};
constexpr std::array attributes = {DeviceNumber{"cudaDevAttrMultiProcessorCount", 8},
                                   DeviceNumber{"cudaDevAttrMaxThreadsPerBlock", 1024},
                                   DeviceNumber{"cudaDevAttrWarpSize", 32},
                                   DeviceNumber{"cudaDevAttrMaxSharedMemoryPerBlock", 49152},
                                   DeviceNumber{"cudaDevAttrMaxThreadsPerMultiProcessor", 2048},
                                   DeviceNumber{"cudaDevAttrMaxSharedMemoryPerBlockOptin", 232448}};
/// Of whatever kernel.
constexpr std::int64_t residentBlocks = 2;

template <std::size_t size>
std::optional<std::int64_t> valueIn(const std::array<DeviceNumber, size>& numbers,
                                    std::string_view name) {
    const auto found = std::ranges::find(numbers, name, &DeviceNumber::name);
    return found == numbers.end() ? std::nullopt : std::optional(found->value);
}

} // namespace

std::optional<std::int64_t> deviceProperty(std::string_view member) {
    return valueIn(properties, member);
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
        return valueIn(attributes, tokens[end - 1].text);
    }
    return std::nullopt;
}

} // namespace kernelskill::engine
