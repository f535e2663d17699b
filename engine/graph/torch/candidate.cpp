#include "engine/graph/torch/candidate.h"

#include "engine/process/shared_library.h"

#include <string>

namespace kernelskill::engine::graph {

Result<void> successOf(int status, const std::string& function) {
    if (status == 0)
        return {};
    return std::unexpected(
        Error{ErrorKind::Failed, function + " ends with error " + std::to_string(status), {}, {}});
}

Result<Candidate> Candidate::load(const std::filesystem::path& library) {
    const auto opened = SharedLibrary::open({library.string()});
    if (!opened)
        return std::unexpected(Error{ErrorKind::Missing,
                                     "the model's library cannot be loaded: " + opened.error().what,
                                     library.string(), "build it for this machine"});
    Candidate candidate;
    int (*version)() = nullptr;
    std::string missing;
    const auto find = [&](auto& function, const char* name) {
        if (!opened->find(function, name))
            missing = name;
    };
    find(candidate.preparedBytes_, "kernelskillModelPreparedBytes");
    find(candidate.workspaceBytes_, "kernelskillModelWorkspaceBytes");
    find(candidate.prepare_, "kernelskillModelPrepare");
    find(candidate.forward_, "kernelskillModelForward");
    find(version, "kernelskillModelAbi");
    static_cast<void>(opened->find(candidate.isLibraryOutput_, "kernelskillModelLibraryOutput"));
    static_cast<void>(opened->find(candidate.needsFloat32_, "kernelskillModelNeedsFloat32"));
    static_cast<void>(opened->find(candidate.isChannelsLast_, "kernelskillModelChannelsLast"));
    if (!missing.empty())
        return std::unexpected(Error{ErrorKind::Missing,
                                     "the model's library has no function " + missing,
                                     library.string(), "generate the model again"});
    constexpr int newest = 2;
    if (const int given = version(); given < 1 || given > newest)
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     "the interface of the model's library has the version " +
                                         std::to_string(given) + " instead of 1 or 2",
                                     library.string(), "generate the model again"});
    return candidate;
}

} // namespace kernelskill::engine::graph
