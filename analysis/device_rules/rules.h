/// The families of rules. Each adds its findings and ignores those of others.
#pragma once

#include "analysis/device_rules/device_rules.h"
#include "analysis/syntax/lexer.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::analysis {

struct DeviceRuleInput {
    const FileModel& model;
    const CompileCommand& command;
    std::string_view text;
    std::vector<Token> tokens;
    /// 90 for sm_90: the newest architecture in the command, for which the file was parsed.
    std::optional<int> architecture;
    /// Whether the flags come from a command and were not inferred.
    bool hasFlags = false;

    [[nodiscard]] Diagnostic found(Span span, Severity severity, std::string code,
                                   std::string message) const;
};

/// Checks shared memory, threads of a block, blocks of a grid, and space for parameters.
void checkResources(const DeviceRuleInput& input, std::vector<Diagnostic>& findings);
/// Checks for shuffles and votes from before CUDA 9.
void checkWarpFunctions(const DeviceRuleInput& input, std::vector<Diagnostic>& findings);
void checkAtomics(const DeviceRuleInput& input, std::vector<Diagnostic>& findings);
/// Checks for threadIdx, constexpr functions and lambdas on the wrong side.
void checkHostCode(const DeviceRuleInput& input, std::vector<Diagnostic>& findings);
/// Checks for `dim3 block = (16, 16)` and `extern __shared__ float a[256]`.
void checkDeclarations(const DeviceRuleInput& input, std::vector<Diagnostic>& findings);

} // namespace kernelskill::analysis
