/// Nests of kernels that tests write out.
#pragma once

#include "analysis/nest/nest.h"

#include <string>

namespace kernelskill::analysis::testing {

/// The first kernel of a text, with its nest.
struct ReadNest {
    FileModel model;
    Nest nest;

    [[nodiscard]] const KernelModel& kernel() const { return model.kernels.front(); }
    /// As text, without the lines before the nodes.
    [[nodiscard]] std::string nodes() const;
    /// The first loop whose iterator has that name; fails the test when there is none.
    [[nodiscard]] const NestLoop& loop(const std::string& iterator) const;
    [[nodiscard]] NestNodeId loopNode(const std::string& iterator) const;
    /// "a[i][j]; …": accesses of arrays in the order of the text, without variables.
    [[nodiscard]] std::string accesses() const;
};

[[nodiscard]] ReadNest readNest(const std::string& text);
/// A kernel of `const float* a, const float* b, float* c, int n, int m` with that body.
[[nodiscard]] ReadNest readBody(const std::string& body);

} // namespace kernelskill::analysis::testing
