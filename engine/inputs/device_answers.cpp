#include "engine/inputs/device_answers.h"

#include "analysis/compile/data_centre_gpu.h"

#include <algorithm>
#include <array>
#include <vector>

namespace kernelskill::engine {
namespace {

struct DeviceNumber {
    std::string_view property;  ///< A member of cudaDeviceProp.
    std::string_view attribute; ///< A cudaDeviceAttr.
    std::int64_t small;
    std::int64_t large;
};
/// The second numbers are those of compute capability 9.0.
constexpr std::array deviceNumbers = {
    DeviceNumber{"multiProcessorCount", "cudaDevAttrMultiProcessorCount", 8,
                 analysis::DataCentreGpu::multiprocessors},
    DeviceNumber{"maxThreadsPerBlock", "cudaDevAttrMaxThreadsPerBlock", 1024, 1024},
    DeviceNumber{"warpSize", "cudaDevAttrWarpSize", 32, 32},
    DeviceNumber{"sharedMemPerBlock", "cudaDevAttrMaxSharedMemoryPerBlock", 49152, 49152},
    DeviceNumber{"maxThreadsPerMultiProcessor", "cudaDevAttrMaxThreadsPerMultiProcessor", 2048,
                 analysis::DataCentreGpu::residentThreads},
    DeviceNumber{"sharedMemPerBlockOptin", "cudaDevAttrMaxSharedMemoryPerBlockOptin", 232448,
                 232448}};
constexpr std::int64_t residentBlocksOfSmall = 2;

std::optional<std::int64_t> numberOf(std::string_view name, std::string_view DeviceNumber::* column,
                                     AnsweringDevice device) {
    const auto found = std::ranges::find(deviceNumbers, name, column);
    if (found == deviceNumbers.end())
        return std::nullopt;
    return device == AnsweringDevice::Small ? found->small : found->large;
}

/// The end of the argument that begins at `begin`: a comma or parenthesis outside of all others.
std::size_t argumentEnd(const std::vector<analysis::Token>& tokens, std::size_t begin) {
    int depth = 0;
    for (std::size_t i = begin; i < tokens.size(); ++i) {
        if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{"))
            ++depth;
        else if (depth > 0 && (tokens[i].is(")") || tokens[i].is("]") || tokens[i].is("}")))
            --depth;
        else if (depth == 0 && (tokens[i].is(",") || tokens[i].is(")") || tokens[i].is(";")))
            return i;
    }
    return tokens.size();
}

} // namespace

std::optional<std::int64_t> deviceProperty(std::string_view member, AnsweringDevice device) {
    return numberOf(member, &DeviceNumber::property, device);
}

std::int64_t residentBlocks(std::int64_t threadsOfBlock, AnsweringDevice device) {
    return device == AnsweringDevice::Small ? residentBlocksOfSmall
                                            : analysis::residentBlocksOf(threadsOfBlock);
}

std::optional<std::variant<std::int64_t, BlockSizeTokens>> deviceAnswer(const ProgramText& program,
                                                                        TextPlace place,
                                                                        const std::string& variable,
                                                                        AnsweringDevice device) {
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
        const std::size_t second = argumentEnd(tokens, i + 2);
        if (function.starts_with("cudaOccupancyMaxActiveBlocksPerMultiprocessor"))
            return BlockSizeTokens{second + 1, argumentEnd(tokens, second + 1)};
        if (function != "cudaDeviceGetAttribute")
            continue;
        if (const auto number = numberOf(tokens[second - 1].text, &DeviceNumber::attribute, device))
            return *number;
        return std::nullopt;
    }
    return std::nullopt;
}

} // namespace kernelskill::engine
