/// What a launcher calls its variables.
#pragma once

#include "engine/generate/parallel_function.h"
#include "engine/generate/written_function.h"

#include <map>
#include <set>
#include <string>

namespace kernelskill::engine {

class LauncherNames {
public:
    LauncherNames(const analysis::KernelModel& function, const ParallelFunction& parallel,
                  const DerivedNames& names);

    /// Pointers into the GPU's memory, of arrays and of the parts of reductions: `d_x`, or
    /// `deviceX` in a file that writes names so. In the order of the function's variables.
    [[nodiscard]] const std::map<analysis::VariableId, std::string>& device() const {
        return device_;
    }
    /// `x_bytes`, of parameter number `parameter`.
    [[nodiscard]] const std::string& bytes(std::uint32_t parameter) const {
        return bytes_.at(parameter);
    }
    [[nodiscard]] const std::string& status() const { return status_; }
    /// The most blocks of a reduction.
    [[nodiscard]] const std::string& maxBlocks() const { return maxBlocks_; }

    /// `wanted`, or what comes nearest: nothing in the function is called so, nor anything else in
    /// the launcher.
    [[nodiscard]] std::string fresh(std::string wanted);
    /// The same of two words, `sum_blocks` or `sumBlocks`.
    [[nodiscard]] std::string fresh(const std::string& first, const std::string& second);

private:
    [[nodiscard]] std::string deviceName(const std::string& name);

    const analysis::FunctionBody& body_;
    const DerivedNames& names_;
    std::set<std::string> taken_;
    std::map<analysis::VariableId, std::string> device_;
    std::map<std::uint32_t, std::string> bytes_;
    std::string status_;
    std::string maxBlocks_;
};

} // namespace kernelskill::engine
