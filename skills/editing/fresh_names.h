/// Names for several new variables of one function.
#pragma once

#include "analysis/syntax/syntax.h"

#include <set>
#include <string>

namespace kernelskill::skills {

/// Gives names that are all different and that the function does not have.
class FreshNames {
public:
    explicit FreshNames(const analysis::FunctionBody& body) : body_(body) {}

    /// Returns `wanted`, or that with the first number that makes it free.
    std::string add(const std::string& wanted);

private:
    const analysis::FunctionBody& body_;
    std::set<std::string> taken_;
};

} // namespace kernelskill::skills
