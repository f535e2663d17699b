/// Index arithmetic of two kernels by the arguments of their launches, so that it can be compared.
#pragma once

#include "analysis/nest/nest.h"
#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// An index as a sum of products. Factors of the same name have the same value in both kernels, for
/// the same thread.
struct LaunchedIndex {
    std::map<std::vector<std::string>, std::int64_t>
        terms; ///< The key is the factors, the value their number.
    /// A factor does not follow from the launch and the thread alone: it counts rounds of a loop,
    /// or was loaded.
    bool isOpen = false;

    bool operator==(const LaunchedIndex&) const = default;
};

/// Returns the factor that stands for the thread's position in the grid along an axis.
[[nodiscard]] std::string positionName(std::uint32_t axis);

/// A kernel at one of its launches.
class LaunchedKernel {
public:
    /// Keeps references; `host` is the map of the launch's function.
    LaunchedKernel(const analysis::FileModel& file, const analysis::KernelModel& kernel,
                   const analysis::LaunchSite& launch, const analysis::CodeMap& host);

    [[nodiscard]] const analysis::Nest& nest() const { return *nest_; }
    [[nodiscard]] const analysis::KernelModel& kernel() const { return kernel_; }
    [[nodiscard]] const analysis::LaunchSite& launch() const { return launch_; }

    [[nodiscard]] LaunchedIndex index(const analysis::IndexExpression& expression) const;
    /// The axes along which the kernel asks for threadIdx or blockIdx.
    [[nodiscard]] std::set<std::uint32_t> axes() const;
    /// The index of the pointer parameter that leads to the array; nullopt for other arrays.
    [[nodiscard]] std::optional<std::size_t> parameterOf(analysis::NestArrayId array) const;

private:
    [[nodiscard]] std::string nameOf(analysis::Symbol symbol, bool& isOpen) const;
    [[nodiscard]] std::string nameOf(const analysis::NestSymbol& symbol, analysis::Symbol id,
                                     bool& isOpen) const;
    [[nodiscard]] std::string argumentOf(const std::string& parameter) const;
    [[nodiscard]] std::string textOf(const analysis::IndexExpression& expression,
                                     bool& isOpen) const;

    const analysis::FileModel& file_;
    const analysis::KernelModel& kernel_;
    const analysis::LaunchSite& launch_;
    const analysis::CodeMap& host_;
    std::shared_ptr<const analysis::Nest> nest_;
    std::map<analysis::Symbol, const analysis::NestLoop*>
        strides_; ///< Grid-stride loops, by their iterators.
};

} // namespace kernelskill::skills
