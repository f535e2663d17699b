/// The names of variables in a generated host function.
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

    /// Names of pointers to device memory, for arrays and for partial results: `d_x`, or `deviceX`
    /// if the file uses that style. Sorted like the function's variables.
    [[nodiscard]] const std::map<analysis::VariableId, std::string>& device() const {
        return device_;
    }
    /// `x_bytes` for parameter number `parameter`.
    [[nodiscard]] const std::string& bytes(std::uint32_t parameter) const {
        return bytes_.at(parameter);
    }
    [[nodiscard]] const std::string& status() const { return status_; }
    /// The variable with the maximum number of blocks of a reduction.
    [[nodiscard]] const std::string& maxBlocks() const { return maxBlocks_; }

    /// `wanted`, or a similar name that neither the function nor the host function uses.
    [[nodiscard]] std::string fresh(std::string wanted);
    /// A name from two words: `sum_blocks` or `sumBlocks`.
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
