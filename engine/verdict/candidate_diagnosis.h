/// The reason why an edit was not kept, as plain data.
#pragma once

#include <string>
#include <vector>

namespace kernelskill::engine {

struct CandidateDiagnosis {
    /// A stable name: "missing-barrier", "tail", "does-not-compile", "occupancy", ...
    /// docs/optimize.md lists them.
    std::string cause;
    std::string sentence;              ///< One sentence without a full stop.
    std::vector<std::string> evidence; ///< The observations, strongest first.
    std::string invariant; ///< The rule about kernels that the edit broke; may be empty.
    std::string repair;    ///< The smallest repair that may help, untried; empty if none is known.
    bool operator==(const CandidateDiagnosis&) const = default;
};

} // namespace kernelskill::engine
