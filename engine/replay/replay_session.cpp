#include "engine/replay/replay_session.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::engine {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The least time for loading, restoring, comparing and reading back, beside the runs themselves.
constexpr milliseconds besideRuns{10'000};
/// At least so many bytes a millisecond are restored and compared, over a slow bus.
constexpr std::uint64_t bytesAMillisecond = 1'000'000;
/// The time until the memory of a killed program is free.
constexpr milliseconds untilFree{30'000};
/// A program that is started again has so many times the time of its first start, and at least
/// leastStart.
constexpr int laterStarts = 4;
constexpr milliseconds leastStart{30'000};

/// The most that an answer may take. Each candidate may reach the limit of a run once, if it is not
/// run again, and takes many rounds only if it is not far slower than the original.
milliseconds timeFor(const TryRequest& request, const HeldDescription& held) {
    constexpr milliseconds::rep otherRuns = 8; // With other contents, to warm up, the first rounds.
    constexpr double noise = 4;
    const auto kernels = static_cast<milliseconds::rep>(request.candidates.size() + 1);
    const milliseconds::rep checks = milliseconds::rep{request.checks} + otherRuns;
    const milliseconds::rep rounds = request.rounds;
    const milliseconds limit = limitOf(request, held);
    const milliseconds run = std::min(limit, longestRun(held));
    const auto round = std::min(
        run, std::chrono::ceil<milliseconds>(farSlower * noise *
                                             std::chrono::duration<double, std::milli>(
                                                 std::max(held.originalTime, milliseconds{1}))));
    const milliseconds moved(static_cast<milliseconds::rep>(held.savedBytes / bytesAMillisecond));
    constexpr milliseconds most = std::chrono::hours(1);
    return std::min(most, besideRuns + kernels * (limit + checks * run + rounds * round +
                                                  (checks + rounds) * moved));
}

/// All answers of a trial together take no longer than so many that are as late as can be.
constexpr int answersInAll = 2;

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
    if (process_) { // Its memory has to be free before it is started again.
        const auto ended = process_->end(untilFree, stop);
        process_.reset();
        if (!ended)
            return ended;
    }
    const auto begin = Clock::now();
    auto started = HeldProgram::start(program_, target_, stop);
    if (!started)
        return std::unexpected(started.error());
    if (restarts_.empty())
        program_.startLimit = std::min(
            program_.startLimit, std::max(leastStart, std::chrono::ceil<milliseconds>(
                                                          laterStarts * (Clock::now() - begin))));
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
    const auto cancelled = [&](const Error& error) {
        process_.reset();
        isCancelled_ = true;
        return std::unexpected(error);
    };
    if (std::exchange(isCancelled_, false)) {
        const Error why{ErrorKind::Failed, "a trial was cancelled before it ended", {}, {}};
        if (auto again = startAgain(why, request, stop); !again)
            return again.error().kind == ErrorKind::Cancelled
                       ? cancelled(again.error())
                       : std::unexpected(std::move(again.error()));
    }
    int ends = 0; // How often the program has ended without an answer.
    milliseconds left = answersInAll * timeFor(request, held_);
    while (!places.empty()) {
        if (!process_)
            return std::unexpected(
                Error{ErrorKind::Failed, "the program is not held any more", {}, {}});
        const TryRequest asked = ends < endsByChance ? request : firstAlone(request);
        const milliseconds time = std::min(left, timeFor(asked, held_));
        const auto begin = Clock::now();
        auto answer = process_->ask(asked, time, stop);
        const auto passed = Clock::now() - begin;
        left -= std::min(left, std::chrono::floor<milliseconds>(passed));
        if (!answer) {
            if (answer.error().kind == ErrorKind::Cancelled)
                return cancelled(answer.error());
            notes.push_back(answer.error().what + "; it was started again");
            // Nothing but a candidate, or a fault of ours, takes so long: no chance.
            ends = passed >= time ? endsByChance : ends + 1;
            if (ends >= endsByChance && asked.candidates.size() == 1) {
                trials[places.front()] = failedTrial(answer.error());
                settle(0);
            }
            auto again = startAgain(answer.error(), request, stop);
            if (!again && again.error().kind == ErrorKind::Cancelled)
                return cancelled(again.error());
            if (left == milliseconds::zero() && !places.empty())
                return std::unexpected(answer.error());
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
                    return cancelled(started.error());
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
