import { AnswerError, DeliveryError, RefusedError, RejectedError, fetchSurvey, pipe } from "deniable";
import type { Answers, PerturbedRecord, Receipt, Survey, Visit } from "deniable";

export async function takePart(link: string, answers: Answers, stored: PerturbedRecord[]): Promise<Receipt | string> {
  const survey: Survey = await fetchSurvey(link, { maxEpsilon: "ln 9", minBatch: 10 });
  const visit: Visit = survey.draw();
  const texts: string[] = survey.shown(answers, { visit }).map((id) => {
    const question = survey.definition.questions.find((one) => one.id === id);
    return pipe(question?.text ?? "", { first: "an answer" });
  });
  const problems: string[] = survey.check(answers, { visit, group: survey.groups[0] });
  if (problems.length > 0) return problems.join(texts.join());
  try {
    const record = await survey.perturb(answers, { visit });
    stored.push(record);
    const receipt = await survey.send(record);
    const certainty: number = survey.posteriorBound + receipt.epsilon;
    if (receipt.code !== undefined && certainty > 200) await survey.withdraw(receipt.code);
    return receipt;
  } catch (error) {
    if (error instanceof AnswerError) return (error.problems ?? []).join();
    if (error instanceof DeliveryError && error.record) return `${error.status ?? ""} ${error.record.submission}`;
    if (error instanceof RejectedError) return error.rule;
    if (error instanceof RefusedError) return error.message;
    throw error;
  }
}
