#include "engine/whole_program/buffer_records.h"

#include <system_error>

namespace kernelskill::engine {

namespace fs = std::filesystem;

fs::path BufferRecords::folderOf(Run run) const {
    const char* name = run == Run::First ? "first" : run == Run::Further ? "further" : "edited";
    return folder_ / name;
}

Workload BufferRecords::recorded(const Workload& workload, Run run) {
    Workload result = workload;
    if (!isRecording())
        return result;
    std::error_code error;
    fs::remove_all(folderOf(run), error);
    fs::create_directories(folderOf(run), error);
    const auto variables = record_(folderOf(run));
    if (variables)
        result.environment.insert(result.environment.end(), variables->begin(), variables->end());
    else
        stop(variables.error().describe());
    return result;
}

void BufferRecords::stop(std::string why) {
    record_ = nullptr;
    compared_.reset();
    note_ = "buffers on the GPU are not compared: " + std::move(why);
    std::error_code error;
    fs::remove_all(folder_, error);
}

void BufferRecords::compareOriginals() {
    auto first = readFinalMemory(folderOf(Run::First));
    if (!first)
        return stop(first.error().describe());
    const auto further = readFinalMemory(folderOf(Run::Further));
    if (!further)
        return stop(further.error().describe());
    auto compared = ComparedBuffers::of(*std::move(first), *further);
    if (!compared)
        return stop(compared.error().describe());
    if (compared->count() == 0)
        return stop(compared->note());
    note_ = compared->note();
    compared_ = *std::move(compared);
    std::error_code error;
    fs::remove_all(folderOf(Run::Further), error);
}

void BufferRecords::addOriginal() {
    if (!compared_)
        return;
    const auto further = readFinalMemory(folderOf(Run::Further));
    if (!further || !compared_->add(*further))
        return stop("they cannot be recorded each time");
    note_ = compared_->note();
    std::error_code error;
    fs::remove_all(folderOf(Run::Further), error);
}

std::optional<std::string> BufferRecords::difference() const {
    if (!compared_)
        return std::nullopt;
    const auto failed = [](const Error& why) {
        return "its buffers on the GPU cannot be compared: " + why.describe();
    };
    const auto edited = readFinalMemory(folderOf(Run::Edited));
    if (!edited)
        return failed(edited.error());
    const auto found = compared_->differenceTo(*edited);
    if (!found)
        return failed(found.error());
    if (*found)
        return "the GPU's memory differs at the end: " + **found;
    return std::nullopt;
}

} // namespace kernelskill::engine
