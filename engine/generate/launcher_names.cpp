#include "engine/generate/launcher_names.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

LauncherNames::LauncherNames(const KernelModel& function, const ParallelFunction& parallel,
                             const DerivedNames& names)
    : body_(function.body), names_(names), status_(fresh("status")),
      maxBlocks_(fresh("most", "blocks")) {
    for (const ArrayUse& use : parallel.arrays) {
        const Parameter& parameter = function.parameters[use.parameter];
        device_[parameter.variable] = deviceName(parameter.name);
        bytes_[use.parameter] = fresh(parameter.name, "bytes");
    }
    for (const ParallelNest& nest : parallel.nests)
        for (const Reduction& reduction : nest.reductions)
            if (!device_.contains(reduction.variable))
                device_[reduction.variable] =
                    deviceName(names_.joined(body_.variable(reduction.variable).name, "parts"));
}

std::string LauncherNames::deviceName(const std::string& name) {
    if (!names_.isCamel())
        return fresh("d_" + name);
    std::string result = "device" + name;
    result[6] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return fresh(std::move(result));
}

std::string LauncherNames::fresh(std::string wanted) {
    while (std::ranges::find(body_.variables, wanted, &Variable::name) != body_.variables.end() ||
           taken_.contains(wanted))
        wanted += "_";
    taken_.insert(wanted);
    return wanted;
}

std::string LauncherNames::fresh(const std::string& first, const std::string& second) {
    return fresh(names_.joined(first, second));
}

} // namespace kernelskill::engine
