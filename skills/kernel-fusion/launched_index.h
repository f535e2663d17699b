/// Index arithmetic of two kernels in the words of their launches, so that it can be compared.
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

/// A sum of products. Factors of one name are one number in both kernels, for one thread.
struct LaunchedIndex {
    std::map<std::vector<std::string>, std::int64_t> terms;
    /// A factor is known neither from the launch nor from the thread: it counts rounds of a loop,
    /// or was loaded.
    bool isOpen = false;

    bool operator==(const LaunchedIndex&) const = default;
};

/// The name of the thread's place in the grid along an axis.
[[nodiscard]] std::string positionName(std::uint32_t axis);

/// One launched kernel, with its nest.
class LaunchedKernel {
public:
    /// Keeps references; `host` is the map of the launch's function.
    LaunchedKernel(const analysis::FileModel& file, const analysis::KernelModel& kernel,
                   const analysis::LaunchSite& launch, const analysis::CodeMap& host);

    [[nodiscard]] const analysis::Nest& nest() const { return *nest_; }
    [[nodiscard]] const analysis::KernelModel& kernel() const { return kernel_; }
    [[nodiscard]] const analysis::LaunchSite& launch() const { return launch_; }

    [[nodiscard]] LaunchedIndex index(const analysis::IndexExpression& expression) const;
    /// The axes along which the kernel tells threads or blocks apart.
    [[nodiscard]] std::set<std::uint32_t> axes() const;
    /// The place of the parameter that an array is behind; nullopt for other arrays.
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
    std::map<analysis::Symbol, const analysis::NestLoop*> strides_; ///< By their iterators.
};

} // namespace kernelskill::skills
