/// A host function with parallel loops as the reference of kernels.
#pragma once

#include "engine/generate/parallel_function.h"
#include "engine/generate/reference.h"

namespace kernelskill::engine {

/// A place where the action `Generate kernel from '<function>'` applies.
struct KernelOffer {
    std::string function;  ///< Qualified name.
    analysis::Span anchor; ///< The function.
    std::string why;       ///< See KernelDraft.
};

/// Cheap, because it runs for code actions.
[[nodiscard]] std::expected<KernelOffer, skills::Refusal>
offerKernel(const analysis::FileModel& file, const analysis::KernelModel& function);

class HostFunctionReference : public Reference {
public:
    /// `function` is one of FileModel::loopFunctions. Keeps references to both arguments.
    HostFunctionReference(const analysis::FileModel& file, const analysis::KernelModel& function)
        : file_(file), function_(function) {}

    [[nodiscard]] std::string name() const override { return function_.name; }
    [[nodiscard]] std::expected<KernelDraft, skills::Refusal> draft() const override;

private:
    const analysis::FileModel& file_;
    const analysis::KernelModel& function_;
};

} // namespace kernelskill::engine
