#include "skills/gates/callees.h"

#include "analysis/nest/nest.h"

#include <algorithm>
#include <set>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

const KernelModel* callee(const FileModel& file, const std::string& name) {
    const auto found = std::ranges::find(file.deviceFunctions, name, &KernelModel::qualifiedName);
    return found == file.deviceFunctions.end() ? nullptr : &*found;
}

} // namespace

std::optional<std::string> calleeThat(const SkillContext& context,
                                      const std::function<bool(const KernelModel&)>& holds) {
    std::vector<std::string> open = context.kernel.calls;
    std::set<std::string> seen(open.begin(), open.end());
    while (!open.empty()) {
        std::string name = open.back();
        open.pop_back();
        const KernelModel* called = callee(context.file, name);
        if (called == nullptr || holds(*called))
            return name;
        for (const std::string& further : called->calls)
            if (seen.insert(further).second)
                open.push_back(further);
    }
    return std::nullopt;
}

std::vector<const KernelModel*> editableCallees(const SkillContext& context) {
    std::vector<const KernelModel*> functions;
    for (const NestFrame& frame : context.shared().nest().frames) {
        const KernelModel& function = functionOf(context.file, context.kernel, frame);
        if (frame.caller != noId && function.file == context.file.file && !function.fromMacro &&
            std::ranges::find(functions, &function) == functions.end())
            functions.push_back(&function);
    }
    return functions;
}

} // namespace kernelskill::skills
