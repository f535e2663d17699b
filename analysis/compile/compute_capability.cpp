#include "analysis/compile/compute_capability.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace kernelskill::analysis {
namespace {

constexpr std::uint32_t kilobytes = 1024;

/// From the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (warps,
/// blocks and shared memory). Allocation units and the reserved kilobyte are from the guide's
/// sections on each capability, and from Nsight Compute's occupancy calculator.
constexpr auto multiprocessors = std::to_array<MultiprocessorLimits>({
    // capability, warps, blocks, shared, shared per block, shared unit, reserved
    {{7, 0}, 64, 32, 96 * kilobytes, 96 * kilobytes, 256, 0},
    {{7, 5}, 32, 16, 64 * kilobytes, 64 * kilobytes, 256, 0},
    {{8, 0}, 64, 32, 164 * kilobytes, 163 * kilobytes, 128, kilobytes},
    {{8, 6}, 48, 16, 100 * kilobytes, 99 * kilobytes, 128, kilobytes},
    {{8, 7}, 48, 16, 164 * kilobytes, 163 * kilobytes, 128, kilobytes},
    {{8, 9}, 48, 24, 100 * kilobytes, 99 * kilobytes, 128, kilobytes},
    {{9, 0}, 64, 32, 228 * kilobytes, 227 * kilobytes, 128, kilobytes},
    {{10, 0}, 64, 32, 228 * kilobytes, 227 * kilobytes, 128, kilobytes},
    {{10, 3}, 64, 32, 228 * kilobytes, 227 * kilobytes, 128, kilobytes},
    {{12, 0}, 48, 24, 100 * kilobytes, 99 * kilobytes, 128, kilobytes},
    {{12, 1}, 48, 24, 100 * kilobytes, 99 * kilobytes, 128, kilobytes},
});

std::optional<int> wholeNumber(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size() && value >= 0;
    return whole ? std::optional(value) : std::nullopt;
}

} // namespace

std::optional<ComputeCapability> computeCapabilityOf(std::string_view text) {
    if (const auto dot = text.find('.'); dot != std::string_view::npos) {
        const auto major = wholeNumber(text.substr(0, dot));
        const auto minor = wholeNumber(text.substr(dot + 1));
        if (!major || !minor)
            return std::nullopt;
        return ComputeCapability{*major, *minor};
    }
    const auto underscore = text.find('_');
    const auto prefix = text.substr(0, underscore);
    if (underscore == std::string_view::npos || (prefix != "sm" && prefix != "compute"))
        return std::nullopt;
    text.remove_prefix(underscore + 1);
    // Suffixes for features of one chip or one family.
    if (text.ends_with('a') || text.ends_with('f'))
        text.remove_suffix(1);
    const auto number = wholeNumber(text);
    if (!number || *number < 10)
        return std::nullopt;
    return ComputeCapability{*number / 10, *number % 10};
}

std::string architectureName(ComputeCapability capability) {
    return "sm_" + std::to_string(capability.major) + std::to_string(capability.minor);
}

std::span<const MultiprocessorLimits> knownMultiprocessors() {
    return multiprocessors;
}

std::optional<MultiprocessorLimits> limitsOf(ComputeCapability capability) {
    const auto* found =
        std::ranges::find(multiprocessors, capability, &MultiprocessorLimits::capability);
    return found == multiprocessors.end() ? std::nullopt : std::optional(*found);
}

} // namespace kernelskill::analysis
