#include "engine/replay/replay_session.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::engine {
namespace {

/// The least time for restoring, comparing and reading back, beside the runs themselves.
constexpr std::chrono::milliseconds besideRuns{30'000};
/// At least so many bytes a millisecond are restored and compared, over a slow bus.
constexpr std::uint64_t bytesAMillisecond = 1'000'000;

/// The most that an answer may take. Each candidate may reach the limit of a run once.
std::chrono::milliseconds timeFor(const TryRequest& request, const HeldDescription& held) {
    const auto runs = std::chrono::milliseconds::rep{request.checks} + request.rounds + 8;
    const auto kernels = static_cast<std::chrono::milliseconds::rep>(request.candidates.size() + 1);
    const std::chrono::milliseconds limit = limitOf(request, held);
    const auto moved = std::chrono::milliseconds::rep(held.savedBytes / bytesAMillisecond);
    constexpr std::chrono::milliseconds most = std::chrono::hours(1);
    return std::min(most,
                    besideRuns + kernels * limit +
                        runs * kernels *
                            (std::min(limit, longestRun(held)) + std::chrono::milliseconds(moved)));
}

/// If the program ends so often during one trial, one of the candidates ends it.
constexpr int endsByChance = 2;

/// The first candidate by itself, compared and not timed.
TryRequest firstAlone(const TryRequest& request) {
    TryRequest alone = request;
    alone.candidates.resize(1);
    alone.rounds = 0;
    return alone;
}

/// Whether both starts of the program held it at the same launch. Addresses may differ.
bool isSameLaunch(const HeldDescription& one, const HeldDescription& other) {
    return one.launch.symbol == other.launch.symbol && one.launch.grid == other.launch.grid &&
           one.launch.block == other.launch.block &&
           one.launch.sharedBytes == other.launch.sharedBytes &&
           one.launch.parameters.size() == other.launch.parameters.size();
}

/// `address` of the one launch in the other, by the parameter whose memory it is in.
std::uint64_t moved(std::uint64_t address, const HeldDescription& from, const HeldDescription& to) {
    for (std::size_t i = 0; i < from.launch.parameters.size(); ++i) {
        const auto& here = from.launch.parameters[i].buffer;
        const auto& there = to.launch.parameters[i].buffer;
        if (here && there && here->address == address)
            return there->address;
    }
    return address;
}

/// Judges candidate `index` by what was found before the failure. `why` says why the program is not
/// held again.
ReplayedTrial unfinishedTrial(const HeldDescription& held, const ReplayFailure& failure,
                              std::size_t index, const Error& why, bool isExact) {
    ReplayedTrial trial;
    if (index < failure.soFar.candidates.size()) {
        trial = judgeTrial(held, failure.soFar, index, isExact);
        trial.original.clear();
        trial.candidate.clear();
    } else {
        trial.sentence = "it was not tried: " + why.what;
    }
    return trial;
}

} // namespace

Result<std::unique_ptr<ReplaySession>>
ReplaySession::open(ReplayProgram program, ReplayTarget target, const std::stop_token& stop) {
    std::unique_ptr<ReplaySession> session(
        new ReplaySession(std::move(program), std::move(target)));
    if (auto started = session->startProgram(stop); !started)
        return std::unexpected(started.error());
    return session;
}

Result<void> ReplaySession::startProgram(const std::stop_token& stop) {
    process_.reset(); // Its memory has to be free before it is started again.
    auto started = HeldProgram::start(program_, target_, stop);
    if (!started)
        return std::unexpected(started.error());
    if (!restarts_.empty() && !isSameLaunch(held_, (*started)->description()))
        return std::unexpected(
            Error{ErrorKind::Failed,
                  "the program launched the kernel in another way when it was started again",
                  {},
                  {}});
    process_ = std::move(*started);
    held_ = process_->description();
    return {};
}

Result<void> ReplaySession::startAgain(const Error& why, TryRequest& request,
                                       const std::stop_token& stop) {
    restarts_.push_back(why.what);
    const HeldDescription before = held_;
    if (auto started = startProgram(stop); !started)
        return started;
    for (TypedRange& range : request.elements)
        range.address = moved(range.address, before, held_);
    for (std::uint64_t& address : request.onlyWritten)
        address = moved(address, before, held_);
    return {};
}

Result<std::vector<ReplayedTrial>> ReplaySession::tryAll(TryRequest request, bool isExact,
                                                         const std::stop_token& stop) {
    std::vector<ReplayedTrial> trials(request.candidates.size());
    std::vector<std::size_t> places; ///< The indices of candidates that are still to be tried.
    for (std::size_t i = 0; i < trials.size(); ++i)
        places.push_back(i);
    std::vector<std::string> notes;
    const auto settle = [&](std::size_t index) {
        const auto at = static_cast<std::ptrdiff_t>(index);
        places.erase(places.begin() + at);
        request.candidates.erase(request.candidates.begin() + at);
    };
    int ends = 0; // How often the program has ended without an answer.
    while (!places.empty()) {
        if (!process_)
            return std::unexpected(
                Error{ErrorKind::Failed, "the program is not held any more", {}, {}});
        const TryRequest asked = ends < endsByChance ? request : firstAlone(request);
        auto answer = process_->ask(asked, timeFor(asked, held_), stop);
        if (!answer) {
            process_.reset();
            if (answer.error().kind == ErrorKind::Cancelled)
                return std::unexpected(answer.error());
            notes.push_back(answer.error().what + "; it was started again");
            if (++ends >= endsByChance && asked.candidates.size() == 1) {
                trials[places.front()] = failedTrial(answer.error());
                settle(0);
            }
            auto again = startAgain(answer.error(), request, stop);
            if (!again && again.error().kind == ErrorKind::Cancelled)
                return std::unexpected(again.error());
            if (!again && !places.empty()) {
                answer.error().what += ", and was not held again: " + again.error().what;
                return std::unexpected(answer.error());
            }
            continue;
        }
        if (const auto* tried = std::get_if<TryAnswer>(&*answer)) {
            for (std::size_t i = 0; i < asked.candidates.size(); ++i) {
                trials[places.front()] = judgeTrial(held_, *tried, i, isExact);
                settle(0);
            }
            continue;
        }
        const auto* failure = std::get_if<ReplayFailure>(&*answer);
        if (failure == nullptr)
            return std::unexpected(
                Error{ErrorKind::Internal, "the held program answered another question", {}, {}});
        if (!failure->candidate || *failure->candidate >= asked.candidates.size()) {
            if (failure->isFatal)
                process_.reset();
            return std::unexpected(failure->error);
        }
        trials[places[*failure->candidate]] = failedTrial(failure->error);
        if (failure->isFatal) {
            if (auto started = startAgain(failure->error, request, stop); !started) {
                if (started.error().kind == ErrorKind::Cancelled)
                    return std::unexpected(started.error());
                for (std::size_t i = 0; i < places.size(); ++i) {
                    if (i != *failure->candidate)
                        trials[places[i]] =
                            unfinishedTrial(held_, *failure, i, started.error(), isExact);
                }
                return trials;
            }
        }
        settle(*failure->candidate);
    }
    for (ReplayedTrial& trial : trials)
        trial.notes.insert(trial.notes.end(), notes.begin(), notes.end());
    return trials;
}

Result<int> ReplaySession::resume(std::chrono::milliseconds time, const std::stop_token& stop) {
    if (!process_)
        return std::unexpected(
            Error{ErrorKind::Failed, "the program is not held any more", {}, {}});
    return process_->resume(time, stop);
}

} // namespace kernelskill::engine
