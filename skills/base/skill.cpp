#include "skills/base/skill.h"

namespace kernelskill::skills {

SkillContext::SkillContext(const analysis::FileModel& fileModel,
                           const analysis::KernelModel& kernelModel,
                           const analysis::Features& kernelFeatures, analysis::Span cursor,
                           const CompiledKernel* compiledKernel)
    : file(fileModel), kernel(kernelModel), features(kernelFeatures), compiled(compiledKernel),
      cursor_(std::make_shared<const Cursor>(cursor)),
      shared_(std::make_shared<const analysis::SharedAnalysis>(fileModel, kernelModel)),
      held_(std::make_shared<HeldValues>()) {}

SkillContext SkillContext::in(const analysis::KernelModel& function) const {
    SkillContext inside(file, function, features, {});
    inside.cursor_ = cursor_;
    return inside;
}

Accuracy accuracyOf(const Offer& offer, const SkillMetadata& metadata) {
    const Numerics numerics = offer.numerics.value_or(metadata.numerics);
    if (offer.error)
        return {numerics, *offer.error};
    if (numerics == metadata.numerics && metadata.error)
        return {numerics, *metadata.error};
    return numerics;
}

} // namespace kernelskill::skills
