/// The quantities that the rule table compares, by their origin.
#pragma once

#include "engine/diagnosis/bottleneck.h"
#include "engine/diagnosis/code_shape.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// The origin of a signal. If two signals speak of one kind of bottleneck, the later origin wins.
enum class SignalBasis : std::uint8_t {
    Static,   ///< From the text.
    Compiler, ///< From the GPU's compiler.
    Profile,  ///< From a run's counters, related to a GPU.
    Measured, ///< From a profiler on a GPU: percentages of peaks, stalls, time.
};

/// One value at one line, or for the whole kernel if there is no line.
struct Signal {
    std::string name;
    double value = 0;
    double share = 1;                      ///< The line's part of the kernel's total.
    std::map<std::string, double> numbers; ///< Numbers for the sentence.
    std::map<std::string, std::string> words;
    std::string file;
    std::optional<std::uint32_t> line; ///< Zero-based.
};

/// `warp` and `shape` are null where the file is not known: what takes them is left out, or read
/// off the features.
[[nodiscard]] std::vector<Signal> staticSignals(const DiagnosisInput& input, const WarpView* warp,
                                                const CodeShape* shape);
/// Empty if there are no facts.
[[nodiscard]] std::vector<Signal> compilerSignals(const DiagnosisInput& input);
/// Empty if there is no profile. A metric that the executor does not count yields no signal.
/// `fromText` is what staticSignals() found.
[[nodiscard]] std::vector<Signal> profileSignals(const DiagnosisInput& input,
                                                 const std::vector<Signal>& fromText);
/// Signals from the launch and from the same counters related to the GPU: occupancy, intensity,
/// launches. `launchSeconds` is the time of an empty launch.
[[nodiscard]] std::vector<Signal> machineSignals(const DiagnosisInput& input,
                                                 const std::vector<Signal>& fromText,
                                                 double launchSeconds);
/// Empty if there is no profile of a GPU.
[[nodiscard]] std::vector<Signal> measuredSignals(const DiagnosisInput& input);

/// The names that signals of an origin may have. Rules may use only these.
[[nodiscard]] std::vector<std::string_view> signalNames(SignalBasis basis);

} // namespace kernelskill::engine
