"""Import of XLSForms, the workbooks of ODK, Kobo and SurveyCTO."""
