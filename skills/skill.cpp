#include "skills/skill.h"

#include "skills/rewriting/shared_analysis.h"

namespace kernelskill::skills {

SkillContext::SkillContext(const analysis::FileModel& fileModel,
                           const analysis::KernelModel& kernelModel,
                           const analysis::Features& kernelFeatures, analysis::Span cursor,
                           const CompiledKernel* compiledKernel)
    : file(fileModel), kernel(kernelModel), features(kernelFeatures), range(cursor),
      compiled(compiledKernel),
      shared_(std::make_shared<const SharedAnalysis>(fileModel, kernelModel)) {}

} // namespace kernelskill::skills
